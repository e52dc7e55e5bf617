import { Schema } from "effect"
import { field, storedServerId, text } from "../words/describedFields.ts"
import { ChangedFile } from "./ChangedFile.ts"
import { Release, ReleaseImage } from "./Release.ts"

/** Service in two releases, with its image in each. */
export const ComparedService = Schema.Struct({
  name: text("The name of the service.", "web"),
  change: Schema.Literal("new", "changed", "same", "removed").annotations({
    description: "`changed`: it runs another image, or one under another name."
  }),
  from: Schema.NullOr(ReleaseImage).annotations({
    description: "Its image in the earlier release; null where that is not known or it has no such service."
  }),
  to: Schema.NullOr(ReleaseImage).annotations({
    description: "Its image in the later release; null where that is not known or it has no such service."
  })
}).annotations({ identifier: "ComparedService" })
export interface ComparedService extends Schema.Schema.Type<typeof ComparedService> {}

/** Difference between two releases of a remote path. */
export const ReleaseComparison = Schema.Struct({
  serverId: storedServerId,
  remotePath: text("The directory of the stack on the server.", "~/containers/hello"),
  from: Release.annotations({ description: "The release that is compared." }),
  to: Release.annotations({ description: "The release that it is compared with." }),
  services: field(Schema.Array(ComparedService), "The services of both releases, by name."),
  files: field(Schema.Array(ChangedFile), "The files of both releases, by name.")
}).annotations({ identifier: "ReleaseComparison" })
export interface ReleaseComparison extends Schema.Schema.Type<typeof ReleaseComparison> {}
