import { Schema } from "effect"
import { cut, quoteInput } from "../words/quoted.ts"
import { strictBody } from "../words/strict.ts"
import { OneLine, ServerInput } from "./Server.ts"
import { Fingerprint } from "./ServerTest.ts"

/** Server to store, and the host key that the user confirmed. */
export const ServerToStore = Schema.Struct({
  ...ServerInput.fields,
  newId: Schema.optional(Schema.NullOr(OneLine)).annotations({
    description: "The id of a server that is added; 409 where another one has it. Left out, it gets a number."
  }),
  uniqueName: Schema.optional(Schema.Boolean).annotations({
    description: "True to refuse with 409 a name that another stored server has.",
    default: false
  }),
  hostKey: Schema.optional(Schema.NullOr(Fingerprint)).annotations({
    description:
      "The fingerprint of its host key, once somebody has compared it: the first connection is refused when the server " +
      "shows another one. Left out, what it shows then is remembered as right. 409 where another key is remembered."
  }),
  replacesHostKey: Schema.optional(Schema.NullOr(Fingerprint)).annotations({
    description: "The remembered fingerprint that hostKey takes the place of."
  })
}).annotations({ identifier: "ServerToStore", ...strictBody })
export interface ServerToStore extends Schema.Schema.Type<typeof ServerToStore> {}

/** A stored server's new fields; its id is in the path. */
export const ServerReplacement = ServerToStore.omit("id", "newId").annotations({
  identifier: "ServerReplacement",
  ...strictBody
})

/** Another stored server has the name or the id already. */
export class ServerTaken extends Schema.TaggedError<ServerTaken>()("ServerTaken", {
  what: Schema.Literal("name", "id"),
  wanted: Schema.String,
  by: Schema.Struct({ id: Schema.String, name: Schema.String })
}) {
  readonly status = 409
  override get message() {
    const { id, name } = this.by
    return `The ${this.what} ${quoteInput(this.wanted)} would be mistaken for the stored server ${
      cut(name)
    } with the id ` +
      `${cut(id)}: nothing was stored. Choose another ${this.what}, or replace that server by its id`
  }
}

/** A caller with a token may not store, remove or test a server like this. */
export class ServerForbidden extends Schema.TaggedError<ServerForbidden>()("ServerForbidden", {
  reason: Schema.String
}) {
  readonly status = 403
  override get message() {
    return `${this.reason}. So only the user of the service's machine may do that: nothing was changed or sent. Run berth ` +
      "server there, or edit the settings file"
  }
}

/** The remembered host key of a server differs from the confirmed one. */
export class HostKeyTaken extends Schema.TaggedError<HostKeyTaken>()("HostKeyTaken", {
  host: Schema.String,
  port: Schema.Number,
  remembered: Schema.String,
  confirmed: Schema.String
}) {
  readonly status = 409
  override get message() {
    return `${cut(this.host)}:${this.port} is remembered with the host key ${this.remembered}, and hostKey is ` +
      `${this.confirmed}: nothing was stored. Compare hostKey with what ssh-keygen -lf prints on the server; if its key ` +
      `was really changed, confirm that with replacesHostKey ${this.remembered.split(" ")[0] ?? ""}`
  }
}
