import { Schema } from "effect"
import { field, storedServerId, text, texts } from "../words/describedFields.ts"
import { ChangedFile } from "./ChangedFile.ts"
import { PlannedService } from "./ContainerPlan.ts"
import { Release } from "./Release.ts"

/** Plan of a rollback. */
export const RollbackPlan = Schema.Struct({
  serverId: storedServerId,
  remotePath: text("The directory of the stack on the server.", "~/containers/hello"),
  release: Release.annotations({ description: "The release that would run." }),
  files: field(
    Schema.Array(ChangedFile),
    "The files of the release beside what lies there now, and those that would be removed."
  ),
  services: field(
    Schema.Array(PlannedService),
    "The services of the release, and those that run there without being in it."
  ),
  obstacles: texts("Obstacles that stop a rollback before it changes anything."),
  warnings: texts("Warnings, which do not stop a rollback.")
}).annotations({ identifier: "RollbackPlan" })
export interface RollbackPlan extends Schema.Schema.Type<typeof RollbackPlan> {}
