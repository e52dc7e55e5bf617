import type { Path } from "@effect/platform"
import { Effect, Either, Option } from "effect"
import { buildScriptName, shellScriptName } from "../../schema/projects/Build.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import { readProjectText } from "../projects/files/readProjectText.ts"
import { type NewDeployment, renderPowerShellScript, renderShellScript } from "./deploymentFiles.ts"

interface Script {
  readonly name: string
  readonly content: string
}

/** A checkout on Windows may have changed the line endings. */
const isWritten = (content: string, text: string) => text.replaceAll("\r\n", "\n") === content

/**
 * Build scripts that a project should have. Both, unless it has one that `init` did not write: a generated script next
 * to it would build something else if PowerShell is missing.
 */
export const renderBuildScripts = (
  directory: string,
  deployment: NewDeployment
): Effect.Effect<ReadonlyArray<Script>, never, LocalFiles | Path.Path> =>
  Effect.gen(function*() {
    const scripts: ReadonlyArray<Script> = [
      { name: buildScriptName, content: renderPowerShellScript(deployment) },
      { name: shellScriptName, content: renderShellScript(deployment) }
    ]
    const found = yield* Effect.forEach(scripts, ({ content, name }) =>
      Effect.map(
        Effect.either(readProjectText(directory, name)),
        Either.match({
          onLeft: () => "own",
          onRight: Option.match({
            onNone: () => "missing",
            onSome: (text) => isWritten(content, text) ? "written" : "own"
          })
        })
      ))
    return found.includes("own") ? scripts.filter((_, index) => found[index] !== "missing") : scripts
  })
