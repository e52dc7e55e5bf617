import { Schema } from "effect"
import { cut } from "../words/quoted.ts"

const where = { server: Schema.String, host: Schema.String, port: Schema.Number }

/** No connection: refused, unroutable, unresolvable or too slow. */
export class ServerUnreachable extends Schema.TaggedError<ServerUnreachable>()("ServerUnreachable", {
  ...where,
  reason: Schema.String
}) {
  readonly status = 502
  override get message() {
    return `Cannot reach server "${cut(this.server)}" at ${cut(this.host)}:${this.port}: ${this.reason}`
  }
}

/** The server answered and turned the log-in down. `unused` says why a stored credential was not shown to it. */
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

/** The server shows another host key than the one remembered; no credential was sent. */
export class HostKeyChanged extends Schema.TaggedError<HostKeyChanged>()("HostKeyChanged", {
  ...where,
  remembered: Schema.String,
  presented: Schema.String,
  /** The file that the remembered keys are in. */
  file: Schema.String,
  isRevoked: Schema.optional(Schema.Boolean)
}) {
  readonly status = 502
  override get message() {
    if (this.isRevoked === true) {
      return `The host key of ${this.host}:${this.port} ("${this.server}") is ${this.presented}, which ${this.file} ` +
        "marks as revoked. Nothing was sent. Give the server another host key"
    }
    return `The host key of ${this.host}:${this.port} ("${this.server}") changed: remembered ${this.remembered}, ` +
      `now ${this.presented}. Nothing was sent. If the server was reinstalled, remove its line from ${this.file}`
  }
}

/** The connection broke while something ran on it. */
export class ConnectionLost extends Schema.TaggedError<ConnectionLost>()("ConnectionLost", {
  ...where,
  reason: Schema.String
}) {
  readonly status = 502
  override get message() {
    return `The connection to "${this.server}" (${this.host}:${this.port}) was lost: ${this.reason}`
  }
}

/** A remote command did not end in time; its channel was closed. */
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

/** A remote command that stays open was silent for too long; its channel was closed. */
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

/** A remote command wrote more than can be meant; its channel was closed. */
export class RemoteOutputTooLong extends Schema.TaggedError<RemoteOutputTooLong>()("RemoteOutputTooLong", {
  ...where,
  what: Schema.String,
  /** The limit that it passed, in words: `8 MiB`. */
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

/** sudo turned the command down. */
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

/** A remote command ended with a failure. `words` is what the server said. */
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

/** SFTP could not do what was asked with a remote path. */
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

/** A string that must not reach a server: NUL, CR or LF in it, or longer than 4 KiB. */
export class RemoteArgumentRefused extends Schema.TaggedError<RemoteArgumentRefused>()("RemoteArgumentRefused", {
  reason: Schema.String
}) {
  readonly status = 400
  override get message() {
    return this.reason
  }
}

/** As many logs of a server are followed, and commands run in its containers, as its connection for that has room for. */
export class TooManyFollowers extends Schema.TaggedError<TooManyFollowers>()("TooManyFollowers", {
  server: Schema.String,
  most: Schema.Number
}) {
  readonly status = 429
  override get message() {
    return `${this.most} logs of "${this.server}" are being followed already, or commands run in its containers, ` +
      "which is as many as can be at a time: end one of them, or ask for the logs as they are"
  }
}

/** Everything that can go wrong between Berth and a server. */
export type SshError =
  | ServerUnreachable
  | AuthenticationFailed
  | HostKeyChanged
  | ConnectionLost
  | RemoteTimeout
  | RemoteSilent
  | RemoteOutputTooLong
  | SudoRefused
  | RemoteArgumentRefused
  | TooManyFollowers
