import { Path } from "@effect/platform"
import { Duration, Effect, Option, Record } from "effect"
import { type EnvironmentRequired, type EnvironmentUnknown, withEnvironment } from "../schema/environments.ts"
import {
  type BuildRequest,
  BuildResult,
  buildScriptName,
  type ContainerConfig,
  type ProjectFileInvalid,
  ProjectPathInvalid,
  shellScriptName
} from "../schema/projects.ts"
import type { RemoteCommandFailed, ServerAccess, SshError } from "../schema/ssh.ts"
import { ProjectNotTrusted } from "../schema/trust.ts"
import { CurrentCaller } from "../services/access/Caller.ts"
import type { LocalEntry, LocalFileFailed, LocalFiles } from "../services/local/LocalFiles.ts"
import { type LocalExit, LocalProcesses, ProgramNotFound } from "../services/local/LocalProcesses.ts"
import { type FileLocked, makeBuildLock } from "../services/locks/Locks.ts"
import { emitOutput } from "../services/runs/output.ts"
import { type RunFailure, Runs } from "../services/runs/Runs.ts"
import { executeStep } from "../services/runs/Steps.ts"
import { scrubSecrets, Settings } from "../services/settings/Settings.ts"
import type { Ssh } from "../services/ssh/Ssh.ts"
import { buildAtServer, findServerBuilders, type ServerBuilder } from "./build/buildAtServer.ts"
import { buildImages, buildOutputLimit, type ImagesBuilt } from "./build/buildImages.ts"
import { type BuildOptions, findBuildSections } from "./projects/composeBuilds.ts"
import {
  findComposeFile,
  findFirstNamed,
  findNewestTar,
  findProjectFiles,
  readProjectConfig,
  readProjectText
} from "./projects/files.ts"
import { type DirectoryRefused, requireTrust, resolveProjectDirectory } from "./projects/trust.ts"

// Only for PowerShell; other shells take these flags for scripts.
const powerShellFlags = ["-NoProfile", "-NonInteractive", "-File"]
const isPowerShell = (program: string) => /^(pwsh|powershell)(\.exe|\.cmd)?$/i.test(program.split(/[\\/]/).at(-1) ?? "")

/** Runs a program in the project's directory. */
type RunProgram = (program: string, args: ReadonlyArray<string>) => Effect.Effect<LocalExit, ProgramNotFound>

const inPowerShell = (script: string, run: RunProgram) =>
  Effect.gen(function*() {
    const [program, ...options] = yield* (yield* Settings).get("build.shell")
    const args = [...options, ...(isPowerShell(program) ? powerShellFlags : []), script]
    return yield* Effect.mapError(run(program, args), ({ help }) =>
      new ProgramNotFound({
        program,
        help: `${help}. The setting build.shell names it` +
          (isPowerShell(program) ? `; without PowerShell, a ${shellScriptName} beside the script is run` : "")
      }))
  })

/** Runs a script in the shell named in its first line: `bash`, else `sh`. */
const inShell = (directory: string, script: string, run: RunProgram) =>
  Effect.gen(function*() {
    const text = yield* Effect.orElseSucceed(readProjectText(directory, shellScriptName), Option.none<string>)
    return yield* run(Option.exists(text, (lines) => /^#!.*\bbash\b/.test(lines)) ? "bash" : "sh", [script])
  })

/**
 * Runs the build script of a project: `build-image-tar.ps1` in the shell of the setting `build.shell`, or
 * `build-image-tar.sh` if there is no other or PowerShell is missing.
 * @param names those of the two scripts that the project has
 */
const runBuildScript = Effect.fn("build.runBuildScript")(function*(
  directory: string,
  names: ReadonlyArray<string>,
  run: RunProgram
) {
  const path = yield* Path.Path
  const forPowerShell = inPowerShell(path.join(directory, buildScriptName), run)
  const forShell = inShell(directory, path.join(directory, shellScriptName), run)
  if (!names.includes(buildScriptName)) return yield* forShell
  if (!names.includes(shellScriptName)) return yield* forPowerShell
  return yield* Effect.catchIf(
    forPowerShell,
    (error) => error instanceof ProgramNotFound && isPowerShell(error.program),
    () => forShell
  )
})

const written = (before: ReadonlyArray<LocalEntry>, after: ReadonlyArray<LocalEntry>) =>
  findNewestTar(
    after.filter(({ modified, name, size }) =>
      !before.some((file) => file.name === name && file.modified === modified && file.size === size)
    )
  )

const scriptNames = [buildScriptName, shellScriptName]

const runScript = (directory: string) =>
  Effect.gen(function*() {
    const settings = yield* Settings
    const processes = yield* LocalProcesses
    const timeout = yield* settings.get("build.timeout")
    const before = yield* findProjectFiles(directory, scriptNames)
    const lines = yield* emitOutput("stdout")
    const [elapsed, { exitCode, output, timedOut }] = yield* Effect.timed(
      runBuildScript(
        directory,
        before.map(({ name }) => name),
        (program, args) =>
          processes.run({ program, args, cwd: directory, timeout, maxOutput: buildOutputLimit }, lines.emit)
      )
    )
    yield* lines.end
    const tar = written(before, yield* findProjectFiles(directory, scriptNames))
    // The beginning of a long output is missing, possibly within a character.
    const isCut = new TextEncoder().encode(output).length > buildOutputLimit - 4
    const shown = yield* scrubSecrets(output, { cut: isCut })
    const result: BuildResult = {
      success: exitCode === 0 && !timedOut,
      tarFile: Option.getOrNull(tar),
      exitCode,
      output: timedOut
        ? `${shown}\nStopped after ${Duration.format(timeout)}: see the setting build.timeout\n`
        : shown,
      durationMs: Math.round(Duration.toMillis(elapsed))
    }
    return result
  })

/** Builds on each server in turn, up to the first that fails. */
const buildAtServers = (
  directory: string,
  environment: string | null | undefined,
  builders: ReadonlyArray<ServerBuilder>,
  options: BuildOptions
) =>
  Effect.gen(function*() {
    let built: ImagesBuilt = { images: [], exitCode: 0, output: "" }
    for (const builder of builders) {
      const next = yield* buildAtServer(directory, environment, builder, options)
      built = { ...next, output: built.output + next.output }
      if (next.exitCode !== 0) break
    }
    return built
  })

const buildSections = (
  directory: string,
  environment: string | null | undefined,
  builders: ReadonlyArray<ServerBuilder>,
  options: BuildOptions
) =>
  Effect.map(
    Effect.timed(Effect.if(builders.length === 0, {
      onTrue: () => buildImages(directory, environment, options),
      onFalse: () => buildAtServers(directory, environment, builders, options)
    })),
    ([elapsed, { exitCode, images, output }]): BuildResult => ({
      success: exitCode === 0,
      tarFile: null,
      exitCode,
      output,
      durationMs: Math.round(Duration.toMillis(elapsed)),
      images
    })
  )

/** Describes the result of a build in a few words. */
export const describeBuild = ({ exitCode, images, success, tarFile }: BuildResult): string =>
  !success
    ? `exit code ${exitCode ?? "none"}`
    : images === undefined
    ? tarFile ?? "no archive was written"
    : images.map(({ services }) => services.join(", ")).join("; ")

const isGiven = (value: unknown) => value !== undefined && value !== null && value !== false

/** Fails if a caller with a token builds here what `container.json` builds at a server: only that is trusted. */
const requireBuildHere = (directory: string, { at }: BuildOptions, config: Pick<ContainerConfig, "build">) =>
  Effect.gen(function*() {
    const { isLocal } = yield* CurrentCaller
    if (isLocal === true || at !== "here" || (config.build?.at ?? "here") === "here") return
    const untrusted = "its builds are not for this machine, as build.at in container.json says"
    return yield* new ProjectNotTrusted({ path: directory, untrusted })
  })

/**
 * Builder of a project: its script, or its compose file without one. A project with neither is a 400. Fails if the caller
 * may not run what the project brings.
 * @param target server of the deploy that it is for
 * @param options choices of this build, which a script does not know
 */
export const findBuilder = Effect.fn("build.findBuilder")(function*(
  directory: string,
  projectPath: string,
  environment?: string | null,
  target?: ServerAccess,
  options: BuildOptions = {}
) {
  const config = yield* readProjectConfig(directory, environment)
  const scripts = yield* findProjectFiles(directory, scriptNames)
  const script = findFirstNamed(scripts, scriptNames)
  const hasScript = Option.isSome(script)
  if (hasScript && [options.at, options.noCache, options.service].some(isGiven)) {
    const reason = `is built by its ${script.value}, which takes no place, service or cache: leave them out`
    return yield* new ProjectPathInvalid({ path: projectPath, reason })
  }
  if (!hasScript) {
    const isComposed = Option.isSome(yield* findComposeFile(directory, config))
    if (!isComposed || (yield* findBuildSections(directory, environment, options)).sections.length === 0) {
      const reason = `has no ${buildScriptName}, nor a ${shellScriptName}: init writes both` +
        (isComposed ? ". Its compose file builds no service either" : "")
      return yield* new ProjectPathInvalid({ path: projectPath, reason })
    }
  }
  const builders = hasScript ? [] : yield* findServerBuilders(directory, config, target, options.at)
  const isTrusted = Effect.zipRight(
    requireTrust(directory, "build", environment ?? null),
    requireBuildHere(directory, options, config)
  )
  yield* isTrusted
  // Again before it begins: the project may have changed while the run waited for its turn.
  return Effect.gen(function*() {
    yield* isTrusted
    return hasScript ? yield* runScript(directory) : yield* buildSections(directory, environment, builders, options)
  })
})

/**
 * Runs a project's `build-image-tar.ps1` in the shell of the setting `build.shell`, or its `build-image-tar.sh` if
 * PowerShell is missing. Without either, builds the images of its compose file, all of them or that of one service. A build
 * that fails or times out is a result.
 */
export const build = Effect.fn("build")(function*(
  { at, environment, noCache, projectPath, service }: BuildRequest
): Effect.fn.Return<
  BuildResult,
  | DirectoryRefused
  | EnvironmentRequired
  | EnvironmentUnknown
  | FileLocked
  | LocalFileFailed
  | ProgramNotFound
  | ProjectFileInvalid
  | RemoteCommandFailed
  | RunFailure
  | SshError,
  Settings | LocalFiles | LocalProcesses | Path.Path | Runs | Ssh
> {
  const directory = yield* resolveProjectDirectory(projectPath)
  const options = { at, noCache, service }
  const builder = yield* findBuilder(directory, projectPath, environment, undefined, options)
  const named = withEnvironment({ environment })
  return yield* (yield* Runs).run(
    {
      kind: "build",
      key: makeBuildLock(directory),
      subject: { projectPath: directory, ...named },
      request: { projectPath, ...named, ...Record.filter(options, isGiven) },
      result: BuildResult,
      afterRestart: "give up"
    },
    executeStep("build", builder, (result) => ({
      status: result.success ? "done" : "error",
      detail: describeBuild(result)
    }))
  )
})
