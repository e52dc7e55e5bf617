import { Schema } from "effect"
import { LocalProject } from "./Project.ts"
import { strictBody } from "./strict.ts"

/** Which directory to prepare. */
export const InitRequest = Schema.Struct({ projectPath: Schema.String }).annotations({
  identifier: "InitRequest",
  ...strictBody
})
export interface InitRequest extends Schema.Schema.Type<typeof InitRequest> {}

/** The files that were created, those that were there already, and the project as it is now. */
export const InitResult = Schema.Struct({
  success: Schema.Literal(true),
  created: Schema.Array(Schema.String),
  kept: Schema.Array(Schema.String),
  project: LocalProject
}).annotations({ identifier: "InitResult" })
export interface InitResult extends Schema.Schema.Type<typeof InitResult> {}
