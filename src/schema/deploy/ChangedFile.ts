import { Schema } from "effect"
import { text, texts } from "../words/describedFields.ts"
import { PlannedFile } from "./ContainerPlan.ts"

/** Names of the variables that differ between two env files; never their values. */
export const ChangedVariables = Schema.Struct({
  added: texts("Variables that only the later file has.", ["TZ"]),
  changed: texts("Variables whose values differ."),
  removed: texts("Variables that only the earlier file has.")
}).annotations({ identifier: "ChangedVariables" })
export interface ChangedVariables extends Schema.Schema.Type<typeof ChangedVariables> {}

/** Change of a file that is kept on a server, with its differences. */
export const ChangedFile = Schema.Struct({
  name: text("The file, relative to the remote path.", "compose.yml"),
  change: PlannedFile.fields.change.annotations({
    description: "`removed`: the later one does not have it."
  }),
  diff: Schema.optionalWith(
    Schema.String.annotations({ description: "Unified diff, of small text files." }),
    { exact: true }
  ),
  variables: Schema.optionalWith(ChangedVariables, { exact: true }).annotations({
    description: "Names of the variables of an env file that differ; never their values."
  })
}).annotations({ identifier: "ChangedFile" })
export interface ChangedFile extends Schema.Schema.Type<typeof ChangedFile> {}
