import { Schema } from "effect"
import { done, field, projectPath, serverId, texts } from "./described.ts"
import { LocalProject } from "./Project.ts"
import { strictBody } from "./strict.ts"

/** Which directory to prepare, and where it is to be deployed. */
export const InitRequest = Schema.Struct({
  projectPath,
  serverId: Schema.optional(Schema.NullOr(serverId)).annotations({
    description: "The id or the name of the server that container.json is to name; the only stored one unless given."
  }),
  remotePath: Schema.optional(Schema.NullOr(Schema.String)).annotations({
    description:
      "The directory on the server that container.json is to name; ~/containers and its own name unless given."
  }),
  plan: Schema.optional(Schema.Boolean).annotations({
    description: "Whether to write nothing, and only to tell which files would be created.",
    default: false
  })
}).annotations({
  identifier: "InitRequest",
  ...strictBody
})
export interface InitRequest extends Schema.Schema.Type<typeof InitRequest> {}

/** The files that were created, those that were there already, and the project as it is now. */
export const InitResult = Schema.Struct({
  success: done,
  created: texts("The files that were written, since they were missing; with plan, that would be.", [
    "container.json",
    ".dockerignore"
  ]),
  kept: texts("The files that were there already and were left as they are.", ["compose.yml"]),
  project: field(LocalProject, "The project as it is now.")
}).annotations({ identifier: "InitResult" })
export interface InitResult extends Schema.Schema.Type<typeof InitResult> {}
