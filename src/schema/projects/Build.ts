import { Schema } from "effect"
import { flag, number, projectPath, textOrNull } from "../words/describedFields.ts"
import { strictBody } from "../words/strict.ts"

/** Scripts that build a project's image archive; the second is the fallback without PowerShell. */
export const buildScriptName = "build-image-tar.ps1"
export const shellScriptName = "build-image-tar.sh"

/** Project to build. */
export const BuildRequest = Schema.Struct({ projectPath }).annotations({
  identifier: "BuildRequest",
  ...strictBody
})
export interface BuildRequest extends Schema.Schema.Type<typeof BuildRequest> {}

/** Result of a build script. */
export const BuildResult = Schema.Struct({
  success: flag("True when the script ended with exit code 0."),
  tarFile: textOrNull("The name of the image archive that this build wrote; null when it wrote none.", "hello.tar"),
  exitCode: Schema.NullOr(Schema.Number).annotations({ description: "Null when the script was stopped." }),
  output: Schema.String.annotations({ description: "Output of both streams; the last MiB." }),
  durationMs: number("Duration of the script, in milliseconds.", 41_500)
}).annotations({ identifier: "BuildResult" })
export interface BuildResult extends Schema.Schema.Type<typeof BuildResult> {}
