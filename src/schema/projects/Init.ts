import { Schema } from "effect"
import { done, field, projectPath, serverId, texts } from "../words/describedFields.ts"
import { strictBody } from "../words/strict.ts"
import { LocalProject } from "./Project.ts"

/** Directory to prepare, and its deploy target. */
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
    description: "True to write nothing and only list the files that would be created.",
    default: false
  })
}).annotations({
  identifier: "InitRequest",
  ...strictBody
})
export interface InitRequest extends Schema.Schema.Type<typeof InitRequest> {}

/** Created files, existing files, and the resulting project. */
export const InitResult = Schema.Struct({
  success: done,
  created: texts("The files that were written, since they were missing; with plan, that would be.", [
    "container.json",
    ".dockerignore"
  ]),
  changed: Schema.optional(texts("The files whose empty serverId was filled in, or with plan would be.", [
    "container.json"
  ])),
  kept: texts("The files that were there already and were left as they are.", ["compose.yml"]),
  project: field(LocalProject, "The project as it is now.")
}).annotations({ identifier: "InitResult" })
export interface InitResult extends Schema.Schema.Type<typeof InitResult> {}
