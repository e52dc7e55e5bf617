import { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import type { HookName } from "../../schema/deploys.ts"
import {
  buildScriptName,
  type ContainerConfig,
  imageFileNames,
  ProjectPathInvalid,
  shellScriptName
} from "../../schema/projects.ts"
import { describeUntrusted, ProjectNotTrusted, type ProjectProgram } from "../../schema/trust.ts"
import { CurrentCaller, maySeeValues } from "../../services/access/Caller.ts"
import { computeSha256 } from "../../services/bytes.ts"
import { type LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { maskArguments } from "../../services/masking.ts"
import { formatTrustedName, ProjectTrust } from "../../services/ProjectTrust.ts"
import { scrubSecrets, Settings } from "../../services/settings/Settings.ts"
import { type EffectiveConfig, listVariants, readContainerConfig } from "./files.ts"
import { findOutwardLinks, isOutside, permitPath } from "./paths.ts"

/** A program with its command line in words, and the digest of what the user trusts. */
export interface FoundProgram extends ProjectProgram {
  readonly command?: ReadonlyArray<string>
  readonly sha256: string
}

/** Bytes of the longest program that is hashed, as archives may be named in a command too. */
const mostHashed = 64 * 1024 * 1024
/** Number of words in commands that may name a file. */
const mostWords = 4_000

type Unjudged = Omit<FoundProgram, "state">

/** Files with these names that exist, through links. */
const listFiles = (directory: string, kind: ProjectProgram["kind"], names: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const files = yield* LocalFiles
    const path = yield* Path.Path
    const found = yield* Effect.forEach(names, (name) =>
      Effect.gen(function*() {
        const file = path.join(directory, name)
        const entry = yield* files.find(file)
        if (Option.isNone(entry) || entry.value.kind !== "file") return []
        const { modified, size } = entry.value
        const sha256 = size > mostHashed ? computeSha256(`${size} ${modified}`) : yield* files.sha256(file)
        return [{ kind, name, detail: null, sha256 } satisfies Unjudged]
      }))
    return found.flat()
  })

/** Docker takes the second one where there is no other. */
const usualDockerfiles = ["Dockerfile", "dockerfile"]

/** Build sections of a compose file that can be built here, and their Dockerfiles. */
const listSections = (directory: string, environment: string | null) =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    const { config, sections } = yield* Effect.flatMap(
      Effect.promise(() => import("./composeBuilds.ts")),
      ({ findBuildSections }) => findBuildSections(directory, environment)
    )
    const dockerfiles = sections.flatMap(({ directory: context, dockerfile, inline }) =>
      (inline !== undefined ? [] : dockerfile === undefined ? usualDockerfiles : [dockerfile]).map((name) =>
        path.relative(directory, path.resolve(context, name))
      )
    )
    const at = config.build?.at ?? "here"
    return [
      ...sections.map(({ context, digest, services }): Unjudged => ({
        kind: "build",
        name: services.join(", "),
        ...at === "here"
          ? { detail: context, sha256: digest }
          : { detail: `${context} (at ${at})`, sha256: computeSha256(`${digest} ${at}`) }
      })),
      ...yield* listFiles(directory, "imageFile", [...new Set(dockerfiles)])
    ]
  }).pipe(
    // A compose file that cannot be read builds nothing.
    Effect.catchTags({
      EnvironmentRequired: () => Effect.succeed([]),
      EnvironmentUnknown: () => Effect.succeed([]),
      ProjectFileInvalid: () => Effect.succeed([])
    })
  )

/** A command of a hook or a secret, with its place among them or its name. */
interface NamedCommand {
  readonly kind: "hook" | "secret"
  readonly name: string
  readonly command: ReadonlyArray<string>
}

/** Names the command of a hook by its place. */
const formatHookName = (hook: HookName, index: number): string => `${hook} ${index + 1}`

/** An argument, and its parts: a shell may get a whole script as one argument, and an option its value with `=`. */
const splitWords = (argument: string): ReadonlyArray<string> => [argument, ...argument.split(/[\s"'`;&|<>(){}$=,:]+/)]

/** Commands, and the files that they name: in the project, beside it, among the projects, or by a relative path. */
const listCommands = (directory: string, commands: ReadonlyArray<NamedCommand>) =>
  Effect.gen(function*() {
    if (commands.length === 0) return []
    const path = yield* Path.Path
    const root = yield* Effect.option((yield* Settings).get("projects.root"))
    const homes = [path.dirname(directory), ...Option.toArray(root)]
    const words = new Set(commands.flatMap(({ command }) => command).flatMap(splitWords))
    const named = [...words].slice(0, mostWords).flatMap((word) => {
      if (word === "" || word.includes("\0")) return []
      const file = path.resolve(directory, word)
      const isForeign = path.isAbsolute(word) && homes.every((home) => isOutside(path, home, file))
      return isForeign ? [] : [path.relative(directory, file)]
    })
    return [
      ...commands.map(({ command, kind, name }): Unjudged => ({
        kind,
        name,
        detail: command.join(" "),
        command,
        sha256: computeSha256(JSON.stringify(command))
      })),
      ...yield* listFiles(directory, "hookFile", [...new Set(named)])
    ]
  })

/** Commands of hooks and secrets that a deploy runs on this machine, and the files that they name. */
const listDeployCommands = (directory: string, { hooks, secrets }: EffectiveConfig) =>
  listCommands(directory, [
    ...(["beforeDeploy", "afterDeploy"] as const).flatMap((hook) =>
      (hooks?.[hook] ?? []).map((command, index): NamedCommand => ({
        kind: "hook",
        name: formatHookName(hook, index),
        command
      }))
    ),
    ...Object.entries(secrets ?? {}).flatMap(([name, { command }]): ReadonlyArray<NamedCommand> =>
      command === undefined || command === null ? [] : [{ kind: "secret", name, command }]
    )
  ])

/** Links in a project that lead out of it. */
const listLinks = (directory: string) =>
  Effect.map(
    findOutwardLinks(directory),
    (links) =>
      links.map(({ name, target }): Unjudged => ({
        kind: "link",
        name,
        detail: target,
        sha256: computeSha256(target)
      }))
  )

/** True for a program that environments may have each for themselves; the name of the environment follows its name then. */
const isVarying = ({ kind }: Pick<Unjudged, "kind">) => kind === "hook" || kind === "secret" || kind === "build"

/** Digests that are trusted under a name, in any environment. */
const listTrusted = (
  trusted: Readonly<Record<string, string>>,
  { kind, name }: Unjudged
): ReadonlyArray<string> => {
  const key = formatTrustedName(kind, name)
  return Object.entries(trusted).flatMap(([each, sha256]) =>
    each === key || (isVarying({ kind }) && each.startsWith(`${key} (`)) ? [sha256] : []
  )
}

/** Programs of several environments, each once; what differs between them bears the name of its environment. */
const mergeVariants = (
  variants: ReadonlyArray<{ readonly environment: string | null; readonly programs: ReadonlyArray<Unjudged> }>
): ReadonlyArray<Unjudged> => {
  const found = new Map<string, Unjudged>()
  for (const { environment, programs } of variants) {
    for (const program of programs) {
      const key = JSON.stringify([program.kind, program.name])
      const before = found.get(key)
      if (before === undefined) found.set(key, program)
      else if (before.sha256 !== program.sha256 && environment !== null) {
        const name = `${program.name} (${environment})`
        found.set(JSON.stringify([program.kind, name]), { ...program, name })
      }
    }
  }
  return [...found.values()]
}

const isCommand = ({ kind }: Unjudged) => kind === "hook" || kind === "secret" || kind === "build"

/**
 * Leaves out files beyond the project that an untrusted command names: a caller with a token, who may have written the
 * command, would learn which files there are on this machine.
 */
const withoutNamedBeyond = (programs: ReadonlyArray<FoundProgram>): ReadonlyArray<FoundProgram> =>
  programs.every((program) => !isCommand(program) || program.state === "trusted")
    ? programs
    : programs.filter(({ kind, name, state }) =>
      (kind !== "hookFile" && kind !== "imageFile") || state !== "new" || !/^\.\.(?:[/\\]|$)/.test(name)
    )

/** Compares programs with those that the user of this machine trusts. */
const judge = (directory: string, programs: ReadonlyArray<Unjudged>) =>
  Effect.gen(function*() {
    if (programs.length === 0) return []
    const { isLocal } = yield* CurrentCaller
    const trusted = yield* (yield* ProjectTrust).find(yield* (yield* LocalFiles).realPath(directory))
    const judged = programs.map((program): FoundProgram => {
      const before = listTrusted(trusted, program)
      return {
        ...program,
        state: before.length === 0 ? "new" : before.includes(program.sha256) ? "trusted" : "changed"
      }
    })
    return isLocal === true ? judged : withoutNamedBeyond(judged)
  })

/** Purpose of a request that uses programs of a project. */
type ProgramUse = "build" | "deploy" | "read"

/**
 * Programs of a project that run on this machine, and the links out of it that `container.json` allows, each with what the
 * user of this machine thinks of it. Files that a script names are not looked for.
 * @param use limits them to those of one purpose
 * @param environment limits them to those of one environment, or with null to those without any
 */
export const listPrograms = Effect.fn("listPrograms")(function*(
  directory: string,
  use?: ProgramUse,
  environment?: string | null
): Effect.fn.Return<ReadonlyArray<FoundProgram>, LocalFileFailed, LocalFiles | Path.Path | Settings> {
  const isFor = (purpose: ProgramUse) => use === undefined || use === purpose
  const config = yield* Effect.orElseSucceed(readContainerConfig(directory), (): ContainerConfig => ({}))
  const variants = listVariants(config).filter((variant) =>
    environment === undefined || variant.environment === environment
  )
  const ofVariants = (list: (variant: typeof variants[number]) => ReturnType<typeof listDeployCommands>) =>
    Effect.map(
      Effect.forEach(variants, (variant) =>
        Effect.map(list(variant), (programs) => ({ environment: variant.environment, programs }))),
      mergeVariants
    )
  const scripts = isFor("build") ? yield* listFiles(directory, "script", [buildScriptName, shellScriptName]) : []
  const programs = [
    ...scripts,
    ...scripts.length > 0
      ? yield* listFiles(directory, "imageFile", imageFileNames)
      : isFor("build")
      ? yield* ofVariants((variant) => listSections(directory, variant.environment))
      : [],
    ...isFor("deploy") ? yield* ofVariants((variant) => listDeployCommands(directory, variant.config)) : [],
    ...isFor("read") && config.allowLinks === true ? yield* listLinks(directory) : []
  ]
  return yield* judge(directory, programs)
})

/** Programs without secrets of the settings, and for viewers without arguments. */
export const showPrograms = (
  programs: ReadonlyArray<FoundProgram>
): Effect.Effect<ReadonlyArray<ProjectProgram>, never, Settings> =>
  Effect.forEach(programs, ({ command, detail, kind, name, state }) =>
    Effect.gen(function*() {
      const { role } = yield* CurrentCaller
      const shown = command === undefined || maySeeValues(role) ? detail : maskArguments(command).join(" ")
      return { kind, name, detail: shown === null ? null : yield* scrubSecrets(shown), state }
    }))

/** Fails if the caller has a token and one of these programs is not trusted. */
const refuseUntrusted = <E, R>(directory: string, programs: Effect.Effect<ReadonlyArray<FoundProgram>, E, R>) =>
  Effect.gen(function*() {
    const { isLocal } = yield* CurrentCaller
    if (isLocal === true) return
    const untrusted = (yield* programs).filter(({ state }) => state !== "trusted")
    if (untrusted.length === 0) return
    return yield* new ProjectNotTrusted({ path: directory, untrusted: describeUntrusted(untrusted) })
  })

/**
 * Fails if the caller has a token and wants to use what the user of this machine has not trusted as it is. Call this before
 * a run is recorded, and again where it uses the programs: it may have waited for its turn in between.
 */
export const requireTrust = Effect.fn("requireTrust")(function*(
  directory: string,
  use: ProgramUse,
  environment: string | null = null
): Effect.fn.Return<void, ProjectNotTrusted | LocalFileFailed, LocalFiles | Path.Path | Settings> {
  yield* refuseUntrusted(directory, listPrograms(directory, use, environment))
})

/** Fails like `requireTrust` for one command, as it is about to run, and the files that it names. */
const requireTrustedCommand = (directory: string, named: NamedCommand) =>
  refuseUntrusted(
    directory,
    Effect.flatMap(listCommands(directory, [named]), (programs) => judge(directory, programs))
  )

/** Fails like `requireTrust` for one command of a hook, as the run holds it, and the files that it names. */
export const requireTrustedHook = Effect.fn("requireTrustedHook")(function*(
  directory: string,
  hook: HookName,
  index: number,
  command: ReadonlyArray<string>
): Effect.fn.Return<void, ProjectNotTrusted | LocalFileFailed, LocalFiles | Path.Path | Settings> {
  yield* requireTrustedCommand(directory, { kind: "hook", name: formatHookName(hook, index), command })
})

/** Fails like `requireTrust` for the command of a secret, as it is about to run, and the files that it names. */
export const requireTrustedSecret = Effect.fn("requireTrustedSecret")(function*(
  directory: string,
  name: string,
  command: ReadonlyArray<string>
): Effect.fn.Return<void, ProjectNotTrusted | LocalFileFailed, LocalFiles | Path.Path | Settings> {
  yield* requireTrustedCommand(directory, { kind: "secret", name, command })
})

/** Reasons why the directory of a project cannot be used. */
export type DirectoryRefused = Effect.Effect.Error<ReturnType<typeof resolveProjectDirectory>>

/** Reason to refuse a `projectPath`. */
const makePathRefusal = (projectPath: string) => (reason: string) =>
  new ProjectPathInvalid({ path: projectPath, reason })

/** Checks that a caller's `projectPath` is an absolute path that the caller may work in. Returns it without `.` and `..`. */
export const resolveProjectPath = Effect.fn("resolveProjectPath")(function*(projectPath: string) {
  const path = yield* Path.Path
  const invalid = makePathRefusal(projectPath)
  if (projectPath.includes("\0")) return yield* invalid("contains a NUL character")
  if (projectPath.length > 4_096) return yield* invalid("is longer than 4096 characters")
  if (!path.isAbsolute(projectPath)) return yield* invalid("is not absolute: give the whole path of the directory")
  yield* permitPath(projectPath)
  return path.resolve(projectPath)
})

/**
 * Checks that a caller's `projectPath` is an absolute path of a directory that the caller may work in, whatever links are in
 * it. Returns it without `.`, `..` and a trailing separator.
 */
export const locateProjectDirectory = Effect.fn("locateProjectDirectory")(function*(
  projectPath: string
) {
  const files = yield* LocalFiles
  const invalid = makePathRefusal(projectPath)
  const directory = yield* resolveProjectPath(projectPath)
  const found = yield* files.find(directory)
  if (Option.isNone(found)) return yield* invalid("does not exist")
  if (found.value.kind !== "directory") return yield* invalid("is not a directory")
  return directory
})

/**
 * Checks that a caller's `projectPath` is an absolute path of a directory that the caller may work in, and that the links out
 * of it are trusted if the caller has a token. Returns it without `.`, `..` and a trailing separator.
 */
export const resolveProjectDirectory = Effect.fn("resolveProjectDirectory")(function*(
  projectPath: string
) {
  const directory = yield* locateProjectDirectory(projectPath)
  yield* requireTrust(directory, "read", null)
  return directory
})
