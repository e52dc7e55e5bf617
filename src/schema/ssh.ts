import { type Redacted, Schema } from "effect"
import { type Server, usualSshPort } from "./servers.ts"
import { number, strictQuery, text, textOrNull, texts } from "./validation.ts"
import { cut } from "./words.ts"

/** Credentials for a server. `privateKey` is an absolute local path. */
export interface Credentials {
  readonly password?: Redacted.Redacted
  readonly sudoPassword?: Redacted.Redacted
  readonly privateKey?: string
  /** Text of a private key, which the settings resolve from a reference in place of its file. */
  readonly keyText?: Redacted.Redacted
  readonly passphrase?: Redacted.Redacted
  readonly agent?: boolean
}

/** A stored server together with its resolved credentials. */
export interface ServerAccess extends Server {
  readonly credentials: Credentials
  /** Jump host of its connection, which may itself have a jump host. */
  readonly via?: ServerAccess
}

const where = { server: Schema.String, host: Schema.String, port: Schema.Number }

/** Connection failed: refused, no route, unknown host, or timed out. */
export class ServerUnreachable extends Schema.TaggedError<ServerUnreachable>()("ServerUnreachable", {
  ...where,
  reason: Schema.String
}) {
  readonly status = 502
  override get message() {
    return `Cannot reach server "${cut(this.server)}" at ${cut(this.host)}:${this.port}: ${this.reason}`
  }
}

/** The server rejected the log-in. `unused` is the reason why a stored credential was not tried. */
export class AuthenticationFailed extends Schema.TaggedError<AuthenticationFailed>()("AuthenticationFailed", {
  ...where,
  username: Schema.String,
  tried: Schema.Array(Schema.String),
  unused: Schema.optional(Schema.Array(Schema.String))
}) {
  readonly status = 502
  override get message() {
    const tried = this.tried.length === 0 ? [] : [`the server refused ${this.tried.join(" and ")}`]
    const said = [...tried, ...this.unused ?? []]
    const why = said.length === 0
      ? "no credential is stored for it: set password, privateKey or agent"
      : said.join("; ")
    return `SSH authentication failed for ${this.username}@${this.host}:${this.port} ("${this.server}"): ${why}`
  }
}

/** The server's host key or its route differs from the remembered one; no credential was sent. */
export class HostKeyChanged extends Schema.TaggedError<HostKeyChanged>()("HostKeyChanged", {
  ...where,
  remembered: Schema.String,
  presented: Schema.String,
  /** File of the remembered host keys. */
  file: Schema.String,
  isRevoked: Schema.optional(Schema.Boolean),
  /** True when the settings require the remembered key. */
  isRequired: Schema.optional(Schema.Boolean),
  /** True when the file is the user's known_hosts, or the variable in its place, and not Berth's own. */
  isUsers: Schema.optional(Schema.Boolean),
  /** Present when its key is stored for other routes than that of the connection. */
  route: Schema.optional(Schema.Struct({ remembered: Schema.String, now: Schema.String }))
}) {
  readonly status = 502
  override get message() {
    if (this.route !== undefined) {
      return `The route to ${this.host}:${this.port} ("${this.server}") changed: remembered is that it is reached ` +
        `${this.route.remembered}, and now it would be ${this.route.now}. Nothing was sent. If the new route is meant, ` +
        "which also ~/.ssh/config may have changed, confirm it with berth server test where the service runs, or remove " +
        `its lines from ${this.file}`
    }
    if (this.isRevoked === true) {
      return `The host key of ${this.host}:${this.port} ("${this.server}") is ${this.presented}, which ${this.file} ` +
        "marks as revoked. Nothing was sent. Give the server another host key"
    }
    if (this.remembered === "") {
      return `Nobody has confirmed the host key of ${this.host}:${this.port} ("${this.server}") yet. Nothing was sent. It ` +
        `shows ${this.presented}: compare that with what ssh-keygen -lf prints on the server, and add it to the server in ` +
        `the settings as hostKey: ${this.presented}`
    }
    if (this.isRequired === true) {
      return `The host key of ${this.host}:${this.port} ("${this.server}") is ${this.presented}, and the settings require ` +
        `${this.remembered}. Nothing was sent. Compare both with what ssh-keygen -lf prints on the server, and change its ` +
        "hostKey in the settings only if its key was really changed"
    }
    if (this.isUsers === true) {
      // The lines of the variable are not in a file that ssh-keygen changes.
      const hasCommand = this.file.endsWith("known_hosts") && /^[A-Za-z0-9._:-]+$/.test(this.host)
      const name = this.port === usualSshPort ? this.host : `[${this.host}]:${this.port}`
      return `The host key of ${this.host}:${this.port} ("${this.server}") is ${this.presented}, and ${this.file} has ` +
        `${this.remembered}. Nothing was sent. Compare both with what ssh-keygen -lf prints on the server, and only if its ` +
        `key was really changed, remove the other one${hasCommand ? `: ssh-keygen -R "${name}"` : ""}`
    }
    return `The host key of ${this.host}:${this.port} ("${this.server}") changed: remembered ${this.remembered}, ` +
      `now ${this.presented}. Nothing was sent. If the server was reinstalled, remove its line from ${this.file}`
  }
}

/** The connection broke during an operation. */
export class ConnectionLost extends Schema.TaggedError<ConnectionLost>()("ConnectionLost", {
  ...where,
  reason: Schema.String
}) {
  readonly status = 502
  override get message() {
    return `The connection to "${this.server}" (${this.host}:${this.port}) was lost: ${this.reason}`
  }
}

/** A remote command timed out; its channel was closed. */
export class RemoteTimeout extends Schema.TaggedError<RemoteTimeout>()("RemoteTimeout", {
  ...where,
  what: Schema.String,
  seconds: Schema.Number
}) {
  readonly status = 502
  override get message() {
    return `"${this.server}" (${this.host}:${this.port}) did not finish ${this.what} within ${this.seconds} s`
  }
}

/** A remote command that stays open sent nothing for too long; its channel was closed. */
export class RemoteSilent extends Schema.TaggedError<RemoteSilent>()("RemoteSilent", {
  ...where,
  what: Schema.String,
  seconds: Schema.Number
}) {
  readonly status = 502
  override get message() {
    return `"${this.server}" (${this.host}:${this.port}) said nothing for ${this.seconds} s while it was asked for ` +
      `${this.what}: the command was ended`
  }
}

/** A remote command exceeded its output limit; its channel was closed. */
export class RemoteOutputTooLong extends Schema.TaggedError<RemoteOutputTooLong>()("RemoteOutputTooLong", {
  ...where,
  what: Schema.String,
  /** Exceeded limit, in words: `8 MiB`. */
  limit: Schema.String,
  /** Remedy for the user. */
  help: Schema.String
}) {
  readonly status = 502
  override get message() {
    return `"${this.server}" (${this.host}:${this.port}) wrote more than ${this.limit} while it was asked for ` +
      `${this.what}: the command was ended. ${this.help}`
  }
}

/** sudo refused the command. */
export class SudoRefused extends Schema.TaggedError<SudoRefused>()("SudoRefused", {
  ...where,
  words: Schema.String,
  help: Schema.String
}) {
  readonly status = 502
  override get message() {
    return `sudo on "${this.server}" refused: ${this.words}. ${this.help}`
  }
}

/** The login shell of the user answered by itself instead of starting the command. `words` is what it printed. */
export class LoginShellFailed extends Schema.TaggedError<LoginShellFailed>()("LoginShellFailed", {
  ...where,
  username: Schema.String,
  what: Schema.String,
  code: Schema.Number,
  words: Schema.String
}) {
  readonly status = 502
  override get message() {
    const said = this.words === "" ? "it printed nothing" : this.words
    const cure = /password|expired/i.test(this.words)
      ? "Log in with ssh as that user, and do what it asks for"
      : "Give that user a shell that runs commands (chsh), and remove a command= from its authorized_keys and a " +
        "ForceCommand from sshd_config"
    return `The login shell of ${cut(this.username)} on "${
      cut(this.server)
    }" started no command (${this.what}), and ended ` +
      `with exit code ${this.code}: ${said}. ${cure}`
  }
}

/** A remote command failed. `words` is the server's message. */
export class RemoteCommandFailed extends Schema.TaggedError<RemoteCommandFailed>()("RemoteCommandFailed", {
  ...where,
  what: Schema.String,
  code: Schema.NullOr(Schema.Number),
  words: Schema.String
}) {
  readonly status = 502
  override get message() {
    const how = this.code === null ? "was killed" : `ended with exit code ${this.code}`
    return this.words === "" ? `${this.what} on "${this.server}" ${how}` : this.words
  }
}

/** An SFTP operation on a remote path failed. */
export class RemoteFileFailed extends Schema.TaggedError<RemoteFileFailed>()("RemoteFileFailed", {
  ...where,
  path: Schema.String,
  reason: Schema.String
}) {
  readonly status = 502
  override get message() {
    return `${cut(this.path)} on "${cut(this.server)}": ${this.reason}`
  }
}

/** String that must not be sent to a server: it contains NUL, CR or LF, or exceeds 4 KiB. */
export class RemoteArgumentRefused extends Schema.TaggedError<RemoteArgumentRefused>()("RemoteArgumentRefused", {
  reason: Schema.String
}) {
  readonly status = 400
  override get message() {
    return this.reason
  }
}

/** A server has no place for another followed log, or for another command in a container. */
export class TooManyFollowers extends Schema.TaggedError<TooManyFollowers>()("TooManyFollowers", {
  server: Schema.String,
  what: Schema.Literal("logs", "commands"),
  most: Schema.Number,
  /** Caller that has reached its half of the places; absent if all are taken. */
  caller: Schema.optional(Schema.String)
}) {
  readonly status = 429
  override get message() {
    const { caller, most, server, what } = this
    const whose = caller === undefined ? "" : ` by "${cut(caller)}"`
    const can = `which is as many as ${caller === undefined ? "can be" : "one caller may have"} at a time`
    return what === "logs"
      ? `${most} logs of "${
        cut(server)
      }" are being followed already${whose}, ${can}: end one of them, or ask for the ` +
        "logs as they are"
      : `${most} commands run in containers of "${
        cut(server)
      }" already${whose}, ${can}. Nothing was started: end one ` +
        "of them"
  }
}

/** All failures of communication with a server. */
export type SshError =
  | ServerUnreachable
  | AuthenticationFailed
  | HostKeyChanged
  | ConnectionLost
  | RemoteTimeout
  | RemoteSilent
  | RemoteOutputTooLong
  | LoginShellFailed
  | SudoRefused
  | RemoteArgumentRefused
  | TooManyFollowers

/** Host to look up. */
export const SshDefaultsQuery = Schema.Struct({
  host: Schema.String.pipe(
    Schema.pattern(/^[A-Za-z0-9_.:%[\]-]{1,253}$/, {
      message: () => "must be a host name, or an alias of ~/.ssh/config"
    })
  ).annotations({ description: "A host name, or the alias of a Host section.", examples: ["main"] })
}).annotations(strictQuery)

/** Field of a server, as defined in `~/.ssh/config`. */
const SshDefault = Schema.Struct({
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

/** Invalid jump hosts. The reason follows the name of the field or setting. */
export class JumpRefused extends Schema.TaggedError<JumpRefused>()("JumpRefused", { reason: Schema.String }) {
  readonly status = 400
  override get message() {
    return `jump ${this.reason}`
  }
}
