import { Schema } from "effect"
import { flag, number, projectPath, textOrNull } from "./described.ts"
import { strictBody } from "./strict.ts"

/** The script that builds a project's image archive, and the one that does so where there is no PowerShell. */
export const buildScriptName = "build-image-tar.ps1"
export const shellScriptName = "build-image-tar.sh"

/** Which project to build. */
export const BuildRequest = Schema.Struct({ projectPath }).annotations({
  identifier: "BuildRequest",
  ...strictBody
})
export interface BuildRequest extends Schema.Schema.Type<typeof BuildRequest> {}

/** How a build script ended. */
export const BuildResult = Schema.Struct({
  success: flag("Whether the script ended with exit code 0."),
  tarFile: textOrNull("The name of the image archive that this build wrote; null when it wrote none.", "hello.tar"),
  exitCode: Schema.NullOr(Schema.Number).annotations({ description: "Null when the script was stopped." }),
  output: Schema.String.annotations({ description: "What it printed on both streams; the last MiB." }),
  durationMs: number("How long the script ran, in milliseconds.", 41_500)
}).annotations({ identifier: "BuildResult" })
export interface BuildResult extends Schema.Schema.Type<typeof BuildResult> {}
