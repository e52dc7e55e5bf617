import { Schema } from "effect"
import { ServerInput } from "./Server.ts"
import { Fingerprint } from "./ServerTest.ts"
import { strictBody } from "./strict.ts"

/** A server that is to be stored, and the host key that somebody has compared. */
export const ServerToStore = Schema.Struct({
  ...ServerInput.fields,
  hostKey: Schema.optional(Schema.NullOr(Fingerprint)).annotations({
    description:
      "The fingerprint of its host key, once somebody has compared it: the first connection is refused when the server " +
      "shows another one. Left out, what it shows then is remembered as right."
  })
}).annotations({ identifier: "ServerToStore", ...strictBody })
export interface ServerToStore extends Schema.Schema.Type<typeof ServerToStore> {}
