import { Schema } from "effect"
import { strictBody } from "./strict.ts"

/** The script that builds a project's image archive. */
export const buildScriptName = "build-image-tar.ps1"

/** Which project to build. */
export const BuildRequest = Schema.Struct({ projectPath: Schema.String }).annotations({
  identifier: "BuildRequest",
  ...strictBody
})
export interface BuildRequest extends Schema.Schema.Type<typeof BuildRequest> {}

/** How a build script ended. */
export const BuildResult = Schema.Struct({
  success: Schema.Boolean,
  tarFile: Schema.NullOr(Schema.String).annotations({ description: "The archive that this build wrote." }),
  exitCode: Schema.NullOr(Schema.Number).annotations({ description: "Null when the script was stopped." }),
  output: Schema.String.annotations({ description: "What it printed on both streams; the last MiB." }),
  durationMs: Schema.Number
}).annotations({ identifier: "BuildResult" })
export interface BuildResult extends Schema.Schema.Type<typeof BuildResult> {}
