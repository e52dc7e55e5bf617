import { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import { buildScriptName, shellScriptName } from "../../schema/projects/Build.ts"
import { type LocalExit, ProgramNotFound } from "../../services/local/LocalProcesses.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { readProjectText } from "../projects/files/readProjectText.ts"

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
export const runBuildScript = Effect.fn("build.runBuildScript")(function*(
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
