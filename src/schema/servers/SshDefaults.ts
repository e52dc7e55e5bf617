import { Schema } from "effect"
import { number, text, textOrNull, texts } from "../words/describedFields.ts"
import { strictQuery } from "../words/strict.ts"

/** Host to look up. */
export const SshDefaultsQuery = Schema.Struct({
  host: Schema.String.pipe(
    Schema.pattern(/^[A-Za-z0-9_.:%[\]-]{1,253}$/, {
      message: () => "must be a host name, or an alias of ~/.ssh/config"
    })
  ).annotations({ description: "A host name, or the alias of a Host section.", examples: ["main"] })
}).annotations(strictQuery)

/** Field of a server, as defined in `~/.ssh/config`. */
export const SshDefault = Schema.Struct({
  field: Schema.Literal("host", "port", "username", "privateKey", "jump").annotations({ description: "The field." }),
  file: text("The file that says it.", "/home/ann/.ssh/config"),
  line: number("The line, counted from 1.", 3)
}).annotations({ identifier: "SshDefault" })

/** Settings of this user's SSH client for a host. */
export const SshDefaults = Schema.Struct({
  isNamed: Schema.Boolean.annotations({
    description: "True when a Host section names it, other than one for all hosts."
  }),
  host: text("The host name: its HostName, or else what was asked for.", "main.example.com"),
  port: Schema.NullOr(Schema.Number).annotations({ description: "Its Port; null without one.", examples: [22] }),
  username: text("Its User, or else the user of this machine.", "deployer"),
  privateKey: textOrNull("The first IdentityFile that is there; null without one.", "/home/ann/.ssh/id_ed25519"),
  jump: textOrNull("Its ProxyJump; null without one.", "bastion"),
  jumpRefused: textOrNull("Reason why its ProxyJump cannot be used; null where it can, or without one."),
  proxyCommand: textOrNull("Its ProxyCommand, which Berth does not run; null without one."),
  from: Schema.Array(SshDefault).annotations({ description: "Where the fields are from that a file says." }),
  isKnown: Schema.Boolean.annotations({ description: "True when known_hosts has a key of it." }),
  warnings: texts("Options that were left out, and why.")
}).annotations({ identifier: "SshDefaults" })
export interface SshDefaults extends Schema.Schema.Type<typeof SshDefaults> {}
