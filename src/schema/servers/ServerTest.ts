import { Schema } from "effect"
import { field, flag, text, textOrNull } from "../words/describedFields.ts"
import { strictBody } from "../words/strict.ts"
import { ServerInput } from "./Server.ts"

/** The fingerprint of a host key. */
export const Fingerprint = Schema.String.pipe(
  Schema.pattern(/^SHA256:[A-Za-z0-9+/]{43}$/, {
    message: () => "must be a fingerprint as ssh-keygen -l prints it: SHA256: and 43 letters, digits, + and /"
  })
)

/** Server to test, stored or not. */
export const ServerTestRequest = Schema.Struct({
  ...ServerInput.fields,
  hostKey: Schema.optional(Schema.NullOr(Fingerprint)).annotations({
    description:
      "The fingerprint of its host key, once somebody has compared it: a server whose key is new gets no credential " +
      "without it."
  })
}).annotations({ identifier: "ServerTestRequest", ...strictBody })
export interface ServerTestRequest extends Schema.Schema.Type<typeof ServerTestRequest> {}

/** One part of a connection test. */
export const ServerCheck = Schema.Struct({
  ok: Schema.NullOr(Schema.Boolean).annotations({
    description: "True when it works; null where it was not tried."
  }),
  detail: text("Finding, or why it was not tried."),
  fix: Schema.optional(Schema.String).annotations({ description: "Remedy where it does not work." })
}).annotations({ identifier: "ServerCheck" })
export interface ServerCheck extends Schema.Schema.Type<typeof ServerCheck> {}

/** Host key that a server presented. */
export const ShownHostKey = Schema.Struct({
  type: text("Its type.", "ssh-ed25519"),
  fingerprint: text(
    "Its fingerprint, to compare with what ssh-keygen -lf prints on the server.",
    "SHA256:9yDLvJ0Xb8j0m2qQz1gk0x9K1v3uJm0o1b8yQ2nXW4s"
  ),
  standing: Schema.Literal("known", "new", "changed").annotations({
    description:
      "known: it is the one that is remembered, or was confirmed; new: neither is so for this host and port; changed: " +
      "another one is, or it is for another route, and no credential was sent."
  }),
  remembered: textOrNull(
    "The remembered fingerprint if the server shows another one, or is reached on another route; else null."
  ),
  route: Schema.optionalWith(
    Schema.Struct({
      remembered: text("The remembered route.", "directly"),
      now: text("The route of this test.", "through deploy@bastion.example.com")
    }),
    { exact: true }
  ).annotations({
    description: "The change of its route; only where the server is remembered on other routes than this one."
  }),
  rememberedIn: Schema.NullOr(Schema.Literal("berth", "known_hosts")).annotations({
    description:
      "berth: replacesHostKey can replace the remembered key; known_hosts: only ssh-keygen -R removes it; null " +
      "without a remembered key."
  })
}).annotations({ identifier: "ShownHostKey" })

/** Result of a connection test, which changes nothing and stores no host key. */
export const ServerTest = Schema.Struct({
  ready: flag("True when Berth can deploy there: everything that was tried works, and nothing had to be left out."),
  hostKey: field(Schema.NullOr(ShownHostKey), "Its host key; null where no SSH server was reached."),
  logIn: field(ServerCheck, "The log-in over SSH with the credentials."),
  sudo: field(ServerCheck, "The use of sudo; not tried where the server is used without it."),
  docker: field(ServerCheck, "The use of Docker and compose."),
  observedAt: text("When the test began, in UTC.", "2026-01-02T03:04:05.678Z")
}).annotations({ identifier: "ServerTest" })
export interface ServerTest extends Schema.Schema.Type<typeof ServerTest> {}
