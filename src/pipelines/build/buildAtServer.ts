import { Path } from "@effect/platform"
import { Array, Deferred, Duration, Effect, Option, Stream } from "effect"
import {
  buildImageCommand,
  endOfContext,
  findBuiltCommand,
  formatBuildWords,
  parseBuilt,
  parseFound,
  type RemoteImage,
  saveImagesCommand
} from "../../remote/build.ts"
import {
  type ContainerConfig,
  containerConfigName,
  ProjectFileInvalid,
  ProjectPathInvalid
} from "../../schema/projects.ts"
import type { ServerAccess } from "../../schema/ssh.ts"
import { cut, formatBytes } from "../../schema/words.ts"
import { keepLastBytes } from "../../services/bytes.ts"
import { type LocalFileFailed, LocalFiles, privateFile } from "../../services/local/LocalFiles.ts"
import { countBytes } from "../../services/runs/events.ts"
import { emitOutput } from "../../services/runs/output.ts"
import { Settings, type SettingsError } from "../../services/settings/Settings.ts"
import { execute, makeCommandFailed, scrubServerOutput, Ssh } from "../../services/ssh/Ssh.ts"
import { heartbeat, spawnWatched } from "../../services/ssh/SshLive.ts"
import { formatBuiltName, locateBuiltArchive, readBuiltImages, recordBuiltImages } from "../archive/builtArchive.ts"
import { packContext } from "../archive/contextTar.ts"
import { readImageArchive } from "../archive/images.ts"
import { type BuildOptions, type BuildSection, findBuildSections } from "../projects/composeBuilds.ts"
import { listConfiguredPlaces } from "../projects/files.ts"
import { describeDockerRefusal } from "../servers/servers.ts"
import {
  buildOutputLimit,
  DockerRefused,
  formatDockerBuild,
  saveImages,
  shownEnd,
  tellUnbuilt,
  toFailedBuild
} from "./buildImages.ts"

/** Server whose Docker builds the images of a project. */
export interface ServerBuilder {
  readonly server: ServerAccess
  /** True if the images stay there, since the project is deployed to this server alone. */
  readonly keeps: boolean
}

type Placed = Pick<ContainerConfig, "build" | "serverId" | "targets">

/**
 * Finds the servers that build the images of a project, as `build.at` of its `container.json` says; empty if they are
 * built with the Docker of this machine. There are several for several targets that each build for themselves.
 * @param target server of the deploy; those that `container.json` names if it is not for a deploy
 * @param chosen takes the place of `build.at`
 */
export const findServerBuilders = Effect.fn("build.findServerBuilders")(function*(
  directory: string,
  config: Placed,
  target?: ServerAccess,
  chosen?: string | null
): Effect.fn.Return<
  ReadonlyArray<ServerBuilder>,
  ProjectFileInvalid | ProjectPathInvalid | SettingsError,
  Path.Path | Settings
> {
  const at = chosen ?? config.build?.at ?? "here"
  if (at === "here") return []
  const path = yield* Path.Path
  const refuse = (reason: string) =>
    chosen === undefined || chosen === null
      ? new ProjectFileInvalid({ file: path.join(directory, containerConfigName), reason: `build.at ${reason}` })
      : new ProjectPathInvalid({ path: directory, reason: `is not built: at ${reason}` })
  const names = [...new Set(listConfiguredPlaces(config, path.basename(directory)).map(({ serverId }) => serverId))]
  const settings = yield* Settings
  const findServer = (idOrName: string, words: string) =>
    settings.server(idOrName).pipe(
      Effect.catchTags({
        ServerAmbiguous: ({ message }) => refuse(`${words}: ${message}`),
        ServerNotFound: ({ message }) => refuse(`${words}: ${message}`)
      })
    )
  if (at === "target") {
    const targets = target === undefined
      ? yield* Effect.forEach(names, (name) => findServer(name, "is \"target\", and that is not a server"))
      : [target]
    if (targets.length === 0) {
      return yield* refuse(
        `is "target", and ${containerConfigName} names no server: name it there (serverId), or build with the deploy ` +
          "(berth deploy --build)"
      )
    }
    return Array.dedupeWith(targets, (one, other) => one.id === other.id).map((server) => ({ server, keeps: true }))
  }
  const server = yield* findServer(at, "must be \"here\", \"target\" or a server")
  const places = yield* Effect.forEach(names, (name) => Effect.option(settings.server(name)))
  const all = target === undefined ? places : [...places, Option.some(target)]
  return [{ server, keeps: all.length > 0 && all.every(Option.exists(({ id }) => id === server.id)) }]
})

const encoder = new TextEncoder()
const mostShown = 5
/** Bytes kept of the end of an error message. */
const mostWords = 4 * 1024

interface BuildPlace {
  readonly server: ServerAccess
  readonly timeout: Duration.Duration
}

/** Builds a section on a server, whose Docker gets the context over SSH. Prints what Docker prints. */
const buildSection = (
  directory: string,
  config: Pick<ContainerConfig, "allowLinks" | "build">,
  section: BuildSection,
  name: string,
  { server, timeout }: BuildPlace
) =>
  Effect.gen(function*() {
    const lines = yield* emitOutput("stdout")
    const output = keepLastBytes(buildOutputLimit)
    const say = (line: string) => {
      output.add(encoder.encode(`${line}\n`))
      return lines.emit(`${line}\n`)
    }
    const context = yield* packContext(directory, section, config)
    const about = section.services.join(", ")
    yield* say(`Building ${about} from ${section.context} on "${server.name}": sending ${formatBytes(context.bytes)}`)
    if (context.leftOut.length > 0) {
      const shown = context.leftOut.slice(0, mostShown).map((each) => cut(each)).join(", ")
      const more = context.leftOut.length > mostShown ? ` and ${context.leftOut.length - mostShown} more` : ""
      yield* say(`Left out, as they are not regular files: ${shown}${more}`)
    }
    const files = { inline: context.dockerfile, secrets: [] }
    const { args, variables } = formatDockerBuild(section, name, files, config.build?.memory ?? undefined, "-")
    const words = [...Object.entries(variables).map(([key, value]) => `${key}=${value}`), "docker", ...args]
    const unread = yield* Deferred.make<never, LocalFileFailed>()
    const count = yield* countBytes("build", context.bytes)
    const input = Stream.make(encoder.encode(formatBuildWords(words))).pipe(
      Stream.concat(count.passing(context.stream)),
      Stream.tapError((error) => Deferred.fail(unread, error)),
      Stream.concat(Stream.make(encoder.encode(endOfContext))),
      Stream.concat(heartbeat)
    )
    const command = buildImageCommand(about, context.chunks, name, server.useSudo)
    const ended = Effect.gen(function*() {
      const process = yield* spawnWatched(server, command, { silence: timeout, input })
      yield* Stream.runForEach(process.lines, say)
      return { code: yield* process.exit, said: yield* process.stderr }
    })
    const { code, said } = yield* Effect.raceFirst(ended, Deferred.await(unread)).pipe(
      Effect.timeoutFail({
        duration: timeout,
        onTimeout: () => {
          const stopped = `Stopped after ${Duration.format(timeout)}: see the setting build.timeout\n`
          return new DockerRefused({ exitCode: null, words: `${output.text()}\n${stopped}` })
        }
      })
    )
    const built = code === 0 ? parseBuilt(said) : Option.none()
    if (Option.isSome(built)) return { name, section, image: built.value, output: output.text() }
    const refusal = said === "" ? "" : `${describeDockerRefusal(scrubServerOutput(server, said), server)}\n`
    return yield* new DockerRefused({ exitCode: code, words: output.text() + refusal })
  }).pipe(Effect.scoped, Effect.withSpan("build.buildSection", { attributes: { server: server.name, name } }))

interface NamedImage {
  readonly name: string
  readonly image: RemoteImage
}

/** True if a file holds the images that were built, under their names: another build may have taken those meanwhile. */
const holdsImages = (file: string, images: ReadonlyArray<NamedImage>) =>
  Effect.map(
    readImageArchive(file),
    (archive) =>
      images.every(({ image: { id, layers }, name }) =>
        archive.images.some((saved) =>
          saved.repoTags.includes(name) &&
          (saved.configId === id || Option.contains(saved.containerdId, id) ||
            (saved.layers.length > 0 && saved.layers.map(({ diffId }) => diffId).join() === layers.join()))
        )
      )
  )

/** Saves images of a server into a file here. A save that fails leaves no file. */
const fetchImages = ({ server, timeout }: BuildPlace, images: ReadonlyArray<NamedImage>) => (file: string) =>
  Effect.gen(function*() {
    const files = yield* LocalFiles
    const command = saveImagesCommand(images.map(({ name }) => name), server.useSudo)
    const process = yield* (yield* Ssh).spawn(server, command)
    const stderr = keepLastBytes(mostWords)
    const draining = yield* Effect.fork(
      Stream.runForEach(process.stderr, (chunk) => Effect.sync(() => stderr.add(chunk)))
    )
    const checked = Effect.gen(function*() {
      const code = yield* process.exit
      yield* draining.await
      if (code !== 0) return yield* makeCommandFailed(server, command, code, stderr.text())
    })
    yield* files.save(file, Stream.concat(process.stdout, Stream.drain(Stream.fromEffect(checked))), privateFile)
    if (yield* Effect.orElseSucceed(holdsImages(file, images), () => false)) return
    yield* files.remove(file)
    const words = `another build on "${server.name}" has taken the name of an image: build again\n`
    return yield* new DockerRefused({ exitCode: 1, words })
  }).pipe(
    Effect.scoped,
    Effect.timeoutFail({
      duration: timeout,
      onTimeout: () =>
        new DockerRefused({
          exitCode: null,
          words:
            `Saving the images on "${server.name}" was stopped after ${Duration.format(timeout)}: see the setting ` +
            "build.timeout\n"
        })
    })
  )

const toRecord = ({ image, name }: NamedImage) => ({ name, ...image })

/** Images of earlier builds that a server still has; of one that keeps them, those that it was told to have. */
const findEarlier = (directory: string, { keeps, server }: ServerBuilder, names: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    if (names.length === 0) return []
    if (keeps) return (yield* readBuiltImages(directory, server.id)).map(({ name, ...image }) => ({ name, image }))
    const command = findBuiltCommand(names, server.useSudo)
    return parseFound((yield* execute(server, command, { timeout: "1 minute" })).stdout)
  })

/**
 * Builds each distinct `build:` section of a project once with the Docker of a server, over SSH alone. A server that the
 * project is deployed to keeps the images; those of another one come into the archive outside of the project. Of sections
 * that are not built, the image of the last build stays. A build that fails is a result.
 */
export const buildAtServer = Effect.fn("build.buildAtServer")(function*(
  directory: string,
  environment: string | null | undefined,
  { keeps, server }: ServerBuilder,
  options: BuildOptions
) {
  const timeout = yield* (yield* Settings).get("build.timeout")
  const { config, others, sections } = yield* findBuildSections(directory, environment, options)
  const { key } = yield* locateBuiltArchive(directory)
  if ((config.build?.secrets ?? []).length > 0) {
    const reason = "build.secrets are for builds here, and this one is at a server: leave out one of them"
    return yield* new ProjectFileInvalid({ file: `${directory}/${containerConfigName}`, reason })
  }
  const built = Effect.gen(function*() {
    const images = yield* Effect.forEach(
      sections,
      (section) => buildSection(directory, config, section, formatBuiltName(key, section), { server, timeout }),
      { concurrency: config.build?.parallel ?? 1 }
    )
    const names = others.map((section) => formatBuiltName(key, section))
    const earlier = (yield* findEarlier(directory, { keeps, server }, names)).filter(({ name }) => names.includes(name))
    const all = [...images, ...earlier]
    if (keeps) yield* recordBuiltImages(directory, server.id, all.map(toRecord))
    else {
      yield* saveImages(
        directory,
        new Map(all.map(({ image, name }) => [name, image.id])),
        fetchImages({ server, timeout }, all)
      )
    }
    const unbuilt = others.filter((section) => !earlier.some(({ name }) => name === formatBuiltName(key, section)))
    const told = yield* tellUnbuilt(unbuilt, `at "${server.name}"`)
    return {
      images: images.map(({ image: { id, platform }, section: { services } }) => ({ services, id, platform })),
      exitCode: 0,
      output: yield* shownEnd(images.map((image) => image.output).join("") + told)
    }
  })
  return yield* Effect.catchTag(built, "DockerRefused", toFailedBuild)
})
