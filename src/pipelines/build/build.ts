import type { Path } from "@effect/platform"
import { Duration, Effect, Option } from "effect"
import { type BuildRequest, BuildResult, buildScriptName, shellScriptName } from "../../schema/projects/Build.ts"
import { ProjectPathInvalid } from "../../schema/projects/Project.ts"
import type { RunFailure } from "../../schema/runs/runFailures.ts"
import type { LocalEntry, LocalFiles } from "../../services/local/LocalFiles.ts"
import { LocalProcesses, type ProgramNotFound } from "../../services/local/LocalProcesses.ts"
import { makeBuildLock } from "../../services/locks/LockKey.ts"
import type { FileLocked } from "../../services/locks/Locks.ts"
import { emitOutput } from "../../services/runs/events/emitOutput.ts"
import { Runs } from "../../services/runs/Runs.ts"
import { executeStep } from "../../services/runs/Steps.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { findFirstNamed, findNewestTar, findProjectFiles } from "../projects/files/projectFiles.ts"
import { type DirectoryRefused, resolveProjectDirectory } from "../projects/files/resolveProjectDirectory.ts"
import { runBuildScript } from "./runBuildScript.ts"

/** Bytes kept of the end of a build's output. */
export const buildOutputLimit = 1024 * 1024

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
    return {
      success: exitCode === 0 && !timedOut,
      tarFile: Option.getOrNull(tar),
      exitCode,
      output: timedOut
        ? `${shown}\nStopped after ${Duration.format(timeout)}: see the setting build.timeout\n`
        : shown,
      durationMs: Math.round(Duration.toMillis(elapsed))
    }
  })

/**
 * Runs a project's `build-image-tar.ps1` in the shell of the setting `build.shell`, or its `build-image-tar.sh` if
 * PowerShell is missing. A script that fails or times out is a result; a project without one is a 400.
 */
export const build = Effect.fn("build")(function*(
  { projectPath }: BuildRequest
): Effect.fn.Return<
  BuildResult,
  DirectoryRefused | FileLocked | ProgramNotFound | RunFailure,
  Settings | LocalFiles | LocalProcesses | Path.Path | Runs
> {
  const directory = yield* resolveProjectDirectory(projectPath)
  if (Option.isNone(findFirstNamed(yield* findProjectFiles(directory, scriptNames), scriptNames))) {
    const reason = `has no ${buildScriptName}, nor a ${shellScriptName}: init writes both`
    return yield* new ProjectPathInvalid({ path: projectPath, reason })
  }
  return yield* (yield* Runs).run(
    {
      kind: "build",
      key: makeBuildLock(directory),
      subject: { projectPath: directory },
      request: { projectPath },
      result: BuildResult,
      afterRestart: "give up"
    },
    executeStep("build", runScript(directory), ({ exitCode, success, tarFile }) => ({
      status: success ? "done" : "error",
      detail: success ? tarFile ?? "no archive was written" : `exit code ${exitCode ?? "none"}`
    }))
  )
})
