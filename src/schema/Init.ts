import { Schema } from "effect"
import { done, field, projectPath, texts } from "./described.ts"
import { LocalProject } from "./Project.ts"
import { strictBody } from "./strict.ts"

/** Which directory to prepare. */
export const InitRequest = Schema.Struct({ projectPath }).annotations({
  identifier: "InitRequest",
  ...strictBody
})
export interface InitRequest extends Schema.Schema.Type<typeof InitRequest> {}

/** The files that were created, those that were there already, and the project as it is now. */
export const InitResult = Schema.Struct({
  success: done,
  created: texts("The files that were written, since they were missing.", ["container.json", ".dockerignore"]),
  kept: texts("The files that were there already and were left as they are.", ["compose.yml"]),
  project: field(LocalProject, "The project as it is now.")
}).annotations({ identifier: "InitResult" })
export interface InitResult extends Schema.Schema.Type<typeof InitResult> {}
