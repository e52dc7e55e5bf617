import { Path } from "@effect/platform"
import { Config, Data, Duration, Effect, Option } from "effect"
import type { BuiltImage } from "../../schema/projects.ts"
import { LocalFiles, privateFile } from "../../services/local/LocalFiles.ts"
import { LocalProcesses } from "../../services/local/LocalProcesses.ts"
import { emitOutput } from "../../services/runs/output.ts"
import { scrubSecrets, Settings } from "../../services/settings/Settings.ts"
import { formatBuiltName, locateBuiltArchive, removeBuiltRecords } from "../archive/builtArchive.ts"
import { readImageArchive } from "../archive/images.ts"
import { type BuildOptions, type BuildSection, findBuildSections } from "../projects/composeBuilds.ts"
import { readProjectText } from "../projects/files.ts"
import { parseEnv, resolveEnvValues } from "../projects/interpolate.ts"

/** Bytes kept of the end of a build's output. */
export const buildOutputLimit = 1024 * 1024

/** Docker did not do what a build needs. */
export class DockerRefused
  extends Data.TaggedError("DockerRefused")<{ readonly exitCode: number | null; readonly words: string }>
{
  override get message() {
    return this.words
  }
}

/** Files that a build needs besides its context, in a private directory outside of the project. */
interface BuildFiles {
  /** Path of the text of `dockerfile_inline`. */
  readonly inline: string | undefined
  /** Paths of the values of `build.secrets` by name. */
  readonly secrets: ReadonlyArray<readonly [name: string, file: string]>
}

/** Variables that change what Docker's client itself does, so that they are not set for it. */
const steersClient =
  /^(?:PATH|HOME|TMPDIR|SHELL|USER|PWD|(?:DOCKER|BUILDKIT|BUILDX|COMPOSE|LD|DYLD|GO|SSH|XDG|OTEL)_?.*|.*_PROXY)$/i

const isSettable = (name: string) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !steersClient.test(name)

/**
 * Arguments and environment of `docker build` for a section. Values of build arguments are passed in the environment, as
 * the command line of a process is visible to every user.
 * @param context directory of the context, or `-` for one on standard input
 */
export const formatDockerBuild = (
  section: BuildSection,
  name: string,
  { inline, secrets }: BuildFiles,
  memory: string | undefined,
  context = section.directory
): { readonly args: ReadonlyArray<string>; readonly variables: Readonly<Record<string, string>> } => {
  const inEnvironment = section.args.filter(([name]) => isSettable(name))
  const file = inline ?? section.dockerfile
  return {
    args: [
      "build",
      "--tag",
      name,
      ...file === undefined ? [] : ["--file", file],
      ...section.platform === undefined ? [] : ["--platform", section.platform],
      ...memory === undefined ? [] : ["--memory", memory],
      ...section.options,
      ...section.args.flatMap(([name, value]) => ["--build-arg", isSettable(name) ? name : `${name}=${value}`]),
      ...secrets.flatMap(([name, file]) => ["--secret", `id=${name},src=${file}`]),
      "--",
      context
    ],
    variables: Object.fromEntries(inEnvironment)
  }
}

/** Runs Docker on this machine to its end; fails with its output unless it exits with 0. */
const runDocker = (
  args: ReadonlyArray<string>,
  options: {
    readonly cwd: string
    readonly timeout: Duration.DurationInput
    readonly variables?: Readonly<Record<string, string>>
    readonly onOutput?: (text: string, dropped: number) => Effect.Effect<void>
  }
) =>
  Effect.gen(function*() {
    const { cwd, onOutput, timeout, variables = {} } = options
    const processes = yield* LocalProcesses
    const command = { program: "docker", args, cwd, timeout, variables, maxOutput: buildOutputLimit }
    const { exitCode, output, timedOut } = yield* processes.run(command, onOutput)
    if (exitCode === 0 && !timedOut) return output
    const words = timedOut
      ? `${output}\nStopped after ${Duration.format(Duration.decode(timeout))}: see the setting build.timeout\n`
      : output
    return yield* new DockerRefused({ exitCode: timedOut ? null : exitCode, words })
  })

const brief = Duration.minutes(1)

/** Docker's client before 23 builds with BuildKit only if it is asked to. */
const chooseBuilder = (cwd: string) =>
  Effect.gen(function*() {
    const chosen = yield* Effect.option(Config.string("DOCKER_BUILDKIT"))
    if (Option.isSome(chosen)) return {}
    const version = yield* runDocker(["version", "--format", "{{.Client.Version}}"], { cwd, timeout: brief })
    return Number.parseInt(version, 10) < 23 ? { DOCKER_BUILDKIT: "1" } : {}
  })

/** Writes the files of a build into a private directory that ends with the scope. */
const writeBuildFiles = (section: BuildSection, secrets: ReadonlyArray<readonly [string, string]>) =>
  Effect.gen(function*() {
    if (section.inline === undefined && secrets.length === 0) return { inline: undefined, secrets: [] }
    const files = yield* LocalFiles
    const path = yield* Path.Path
    const directory = yield* Effect.acquireRelease(
      files.temporaryDirectory("berth-build-"),
      (made) => Effect.ignore(files.remove(made))
    )
    const write = (name: string, text: string) =>
      Effect.as(files.write(path.join(directory, name), text, privateFile), path.join(directory, name))
    return {
      inline: section.inline === undefined ? undefined : yield* write("Dockerfile", section.inline),
      secrets: yield* Effect.forEach(
        secrets,
        ([name, value], index) => Effect.map(write(`secret-${index}`, value), (file) => [name, file] as const)
      )
    } satisfies BuildFiles
  })

const inspectFormat = "{{.Id}} {{.Os}}/{{.Architecture}}"
const inspected = /^(sha256:[0-9a-f]{64}) ([a-z0-9]+\/[a-z0-9]+)$/m

/** Id and platform of an image of the Docker here; an empty id where Docker prints something else. */
const inspectImage = (name: string, cwd: string) =>
  Effect.map(
    runDocker(["image", "inspect", "--format", inspectFormat, "--", name], { cwd, timeout: brief }),
    (printed) => {
      const [, id = "", platform = ""] = inspected.exec(printed) ?? []
      return { id, platform, printed }
    }
  )

/** Tells in the output of the run which sections have no image of an earlier build. Returns what it has told. */
export const tellUnbuilt = (sections: ReadonlyArray<BuildSection>, place: string) =>
  Effect.gen(function*() {
    const told = sections.map(({ services }) =>
      `No image of ${services.join(", ")} from an earlier build ${place}: build it too, unless the server has it\n`
    ).join("")
    yield* (yield* emitOutput("stdout")).emit(told)
    return told
  })

/** Saves images into the kept archive unless it holds them already. */
export const saveImages = <E, R>(
  directory: string,
  images: ReadonlyMap<string, string>,
  save: (file: string) => Effect.Effect<unknown, E, R>
) =>
  Effect.gen(function*() {
    const files = yield* LocalFiles
    const path = yield* Path.Path
    const kept = yield* locateBuiltArchive(directory)
    yield* removeBuiltRecords(directory)
    const before = Option.isSome(yield* files.find(kept.file))
      ? yield* Effect.option(readImageArchive(kept.file))
      : Option.none()
    const held = new Map(Option.match(before, {
      onNone: () => [],
      onSome: (archive) => archive.images.flatMap((image) => image.repoTags.map((name) => [name, image] as const))
    }))
    // Docker calls an image by its configuration, and with containerd's store by its manifest.
    const isHeld = ([name, id]: readonly [name: string, id: string]) => {
      const image = held.get(name)
      return image !== undefined && (image.configId === id || Option.contains(image.containerdId, id))
    }
    if (held.size === images.size && [...images].every(isHeld)) return
    yield* files.makeDirectory(kept.directory, { mode: 0o700 })
    // Docker writes to a temporary file first; one of a killed build would stay.
    for (const { name } of yield* files.names(kept.directory)) {
      if (name.startsWith(".")) yield* files.remove(path.join(kept.directory, name))
    }
    yield* save(kept.file)
  })

/** End of an output, without secrets; its beginning may be missing, possibly within one. */
export const shownEnd = (output: string) => {
  const isCut = output.length > buildOutputLimit - 4
  return scrubSecrets(isCut ? output.slice(-buildOutputLimit) : output, { cut: isCut })
}

/** Result of building the sections of a compose file. */
export interface ImagesBuilt {
  readonly images: ReadonlyArray<BuiltImage>
  /** Exit code of the build that failed; 0 if none did, null if one was stopped. */
  readonly exitCode: number | null
  /** End of the output, of all builds or of the one that failed, without secrets. */
  readonly output: string
}

/** Result of a build that Docker refused. */
export const toFailedBuild = ({ exitCode, words }: DockerRefused): Effect.Effect<ImagesBuilt, never, Settings> =>
  Effect.map(shownEnd(words), (output) => ({ images: [], exitCode: exitCode === 0 ? 1 : exitCode, output }))

const readSecrets = (directory: string, names: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const text = names.length === 0 ? Option.none() : yield* readProjectText(directory, ".env")
    const { values } = resolveEnvValues(parseEnv(Option.getOrElse(text, () => "")))
    return yield* Effect.forEach(names, (name) => {
      const value = values.get(name)
      return value === undefined || value === ""
        ? new DockerRefused({ exitCode: 1, words: `the build secret ${name} is not set in .env\n` })
        : Effect.succeed([name, value] as const)
    })
  })

/**
 * Builds each distinct `build:` section of a project once with the Docker of this machine, and keeps the images in an
 * archive outside of the project, from which a deploy sends them. Of sections that are not built, the image of the
 * last build stays in it. A build that fails is a result.
 */
export const buildImages = Effect.fn("build.buildImages")(function*(
  directory: string,
  environment: string | null | undefined,
  options: BuildOptions
) {
  const timeout = yield* (yield* Settings).get("build.timeout")
  const { config, others, sections } = yield* findBuildSections(directory, environment, options)
  const { key } = yield* locateBuiltArchive(directory)
  const memory = config.build?.memory ?? undefined
  const built = Effect.gen(function*() {
    const secrets = yield* readSecrets(directory, config.build?.secrets ?? [])
    const builder = { ...yield* chooseBuilder(directory), ...secrets.length === 0 ? {} : { DOCKER_BUILDKIT: "1" } }
    const images = yield* Effect.forEach(sections, (section) =>
      Effect.gen(function*() {
        const name = formatBuiltName(key, section)
        const lines = yield* emitOutput("stdout")
        yield* lines.emit(`Building ${section.services.join(", ")} from ${section.context}\n`, 0)
        const { args, variables } = formatDockerBuild(section, name, yield* writeBuildFiles(section, secrets), memory)
        const output = yield* runDocker(args, {
          cwd: section.directory,
          timeout,
          variables: { ...variables, ...builder },
          onOutput: lines.emit
        }).pipe(Effect.ensuring(lines.end))
        const { id, platform, printed } = yield* inspectImage(name, directory)
        if (id === "") return yield* new DockerRefused({ exitCode: 0, words: `${output}\n${printed}` })
        return { name, id, output, image: { services: section.services, id, platform } satisfies BuiltImage }
      }).pipe(Effect.scoped), { concurrency: config.build?.parallel ?? 1 })
    const [unbuilt, kept] = yield* Effect.partition(others, (section) => {
      const name = formatBuiltName(key, section)
      return inspectImage(name, directory).pipe(
        Effect.filterOrFail(({ id }) => id !== ""),
        Effect.mapBoth({ onFailure: () => section, onSuccess: ({ id }) => ({ name, id }) })
      )
    })
    const saved = new Map([...images, ...kept].map(({ id, name }) => [name, id]))
    yield* saveImages(
      directory,
      saved,
      (file) => runDocker(["save", "--output", file, "--", ...saved.keys()], { cwd: directory, timeout })
    )
    const output = images.map((image) => image.output).join("") + (yield* tellUnbuilt(unbuilt, "here"))
    return { images: images.map(({ image }) => image), exitCode: 0, output: yield* shownEnd(output) }
  })
  return yield* Effect.catchTag(built, "DockerRefused", toFailedBuild)
})
