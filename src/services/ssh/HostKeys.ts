import { Path } from "@effect/platform"
import { Context, Effect, Either, Layer, Option, Schema } from "effect"
import { createHash } from "node:crypto"
import { LocalFiles } from "../local/LocalFiles.ts"
import { hostKeysLock } from "../locks/LockKey.ts"
import { Locks } from "../locks/Locks.ts"

/** The key of a server as it came over the wire. */
export interface HostKey {
  /** Its type as the key itself names it: `ssh-ed25519`, `ecdsa-sha2-nistp256`, `ssh-rsa`. */
  readonly type: string
  readonly blob: Uint8Array
}

/** The key shown is none of those remembered; both as fingerprints. */
export interface KeyMismatch {
  readonly remembered: string
  readonly presented: string
}

/** The remembered keys could not be read or written. */
export class HostKeysUnavailable extends Schema.TaggedError<HostKeysUnavailable>()("HostKeysUnavailable", {
  file: Schema.String,
  reason: Schema.String
}) {
  readonly status = 500
  override get message() {
    return `The host keys in ${this.file} could not be used: ${this.reason}`
  }
}

/**
 * The host keys that servers showed before. A server is trusted when it is met for the first time; from then on it has
 * to show a remembered key. What is remembered belongs to host and port, not to a stored server.
 */
export class HostKeys extends Context.Tag("berth/HostKeys")<HostKeys, {
  /** Where keys are remembered, for error messages. */
  readonly file: string
  /** The types remembered for a server, for asking it for one of these first. */
  readonly knownTypes: (host: string, port: number) => Effect.Effect<ReadonlyArray<string>, HostKeysUnavailable>
  /** What is known of the key that a server shows; remembers nothing. */
  readonly standing: (
    host: string,
    port: number,
    key: HostKey
  ) => Effect.Effect<KeyMismatch | "known" | "new", HostKeysUnavailable>
  /**
   * Insists on this fingerprint at the first connection to a server, since somebody has compared it. Where other keys are
   * remembered, it takes their place if `replaces` is one of them, and is a mismatch otherwise.
   */
  readonly confirm: (
    host: string,
    port: number,
    fingerprint: string,
    replaces?: string
  ) => Effect.Effect<KeyMismatch | "confirmed", HostKeysUnavailable>
  /**
   * Remembers the first key of a server, which has to be the confirmed one if there is one; answers a mismatch when it
   * shows another than the remembered ones.
   */
  readonly check: (
    host: string,
    port: number,
    key: HostKey
  ) => Effect.Effect<KeyMismatch | "known" | "remembered", HostKeysUnavailable>
}>() {}

/** A key's fingerprint as OpenSSH prints it: `SHA256:` and base64 without padding. */
export const fingerprint = (blob: Uint8Array): string =>
  `SHA256:${createHash("sha256").update(blob).digest("base64").replace(/(?<!=)=+$/, "")}`

/** Reads a key's type from its wire form: a length of four bytes, then the name. */
export const hostKey = (blob: Uint8Array): HostKey => {
  const bytes = Buffer.from(blob)
  const length = bytes.length < 4 ? 0 : bytes.readUInt32BE(0)
  return { type: bytes.subarray(4, 4 + length).toString("latin1"), blob: bytes }
}

const odd = /[^a-z0-9._:%-]/g
const escaped = (letter: string) => `%${letter.charCodeAt(0).toString(16)}`

/** How a server is named in the file: OpenSSH's `host`, or `[host]:port` for another port than 22. */
const nameOf = (host: string, port: number): string => {
  const name = host.toLowerCase().replace(odd, escaped)
  return port === 22 ? name : `[${name}]:${port}`
}

interface Line {
  readonly names: ReadonlyArray<string>
  readonly type: string
  readonly key: string
}

const lineOf = (text: string): Line | undefined => {
  const [names, type, key] = text.trim().split(/\s+/)
  return names === undefined || type === undefined || key === undefined || /^[#@|]/.test(names)
    ? undefined
    : { names: names.split(","), type, key }
}

/** The keys that a known_hosts text holds for a server. Hashed names, markers and comments are not entries here. */
export const remembered = (text: string, host: string, port: number): ReadonlyArray<Omit<Line, "names">> =>
  text.split(/\r?\n/).flatMap((row) => {
    const line = lineOf(row)
    return line?.names.includes(nameOf(host, port)) === true ? [{ type: line.type, key: line.key }] : []
  })

/** A comment for OpenSSH: the fingerprint that a server has to show when it is met for the first time. */
const confirmation = (host: string, port: number) => `# confirmed ${nameOf(host, port)} `

const rowsOf = (text: string) => text.split(/(?<=\n)/)

const confirmedFor = (text: string, host: string, port: number): string | undefined => {
  const start = confirmation(host, port)
  return rowsOf(text).find((row) => row.startsWith(start))?.slice(start.length).trim()
}

const withoutConfirmation = (text: string, host: string, port: number) =>
  rowsOf(text).filter((row) => !row.startsWith(confirmation(host, port))).join("")

const ended = (text: string) => text === "" || text.endsWith("\n") ? text : `${text}\n`

/** The text without the keys of a server; a line that names others too stays for them. */
const withoutKeys = (text: string, host: string, port: number) =>
  rowsOf(text).flatMap((row) => {
    const line = lineOf(row)
    const others = line?.names.filter((name) => name !== nameOf(host, port)) ?? []
    if (line === undefined || others.length === line.names.length) return [row]
    return others.length === 0 ? [] : [row.replace(/^\s*\S+/, others.join(","))]
  }).join("")

/**
 * A known_hosts text in which this fingerprint is confirmed for a server. Where other keys are remembered for it, it takes
 * their place if `replaces` is one of them, and is a mismatch otherwise.
 */
export const withConfirmed = (
  text: string,
  host: string,
  port: number,
  confirmed: string,
  replaces?: string
): Either.Either<string, KeyMismatch> => {
  const keys = remembered(text, host, port).map(({ key }) => fingerprint(Buffer.from(key, "base64")))
  if (keys.includes(confirmed)) return Either.right(text)
  if (keys.length > 0 && !keys.some((key) => key === replaces)) {
    return Either.left({ remembered: keys.join(" or "), presented: confirmed })
  }
  const others = withoutKeys(withoutConfirmation(text, host, port), host, port)
  return Either.right(`${ended(others)}${confirmation(host, port)}${confirmed}\n`)
}

/**
 * What a known_hosts text says about a key that a server shows, and the text with the key when the server is new. One
 * key is remembered for a server: it is asked for that type first, so that its other keys do not look like a change. A
 * server that has lost the remembered type counts as changed, as anybody could claim that in its place.
 */
export const judge = (text: string, host: string, port: number, key: HostKey) => {
  const keys = remembered(text, host, port)
  const shown = Buffer.from(key.blob).toString("base64")
  if (keys.some((known) => known.key === shown)) return { answer: "known" as const, text }
  if (keys.length > 0) {
    const answer: KeyMismatch = {
      remembered: keys.map((known) => fingerprint(Buffer.from(known.key, "base64"))).join(" or "),
      presented: fingerprint(key.blob)
    }
    return { answer, text }
  }
  const confirmed = confirmedFor(text, host, port)
  if (confirmed !== undefined && confirmed !== fingerprint(key.blob)) {
    const answer: KeyMismatch = { remembered: confirmed, presented: fingerprint(key.blob) }
    return { answer, text }
  }
  const whole = ended(withoutConfirmation(text, host, port))
  return { answer: "remembered" as const, text: `${whole}${nameOf(host, port)} ${key.type} ${shown}\n` }
}

/** What a known_hosts text says about a key, where nothing is remembered by asking. */
export const standingIn = (text: string, host: string, port: number, key: HostKey): KeyMismatch | "known" | "new" => {
  const { answer } = judge(text, host, port, key)
  if (answer !== "remembered") return answer
  return confirmedFor(text, host, port) === undefined ? "new" : "known"
}

/** Host keys in a file in the form of OpenSSH's known_hosts, replaced as a whole and under a lock. */
export const HostKeysLive = (file: string): Layer.Layer<HostKeys, never, LocalFiles | Path.Path | Locks> =>
  Layer.effect(
    HostKeys,
    Effect.gen(function*() {
      const files = yield* LocalFiles
      const path = yield* Path.Path
      const locks = yield* Locks
      const unavailable = ({ reason }: { readonly reason: string }) => new HostKeysUnavailable({ file, reason })
      const read = Effect.flatMap(
        files.find(file),
        Option.match({
          onNone: () => Effect.succeed(""),
          onSome: () => Effect.map(files.read(file), (bytes) => new TextDecoder().decode(bytes))
        })
      )
      return HostKeys.of({
        file,
        knownTypes: Effect.fn("HostKeys.knownTypes")((host, port) =>
          read.pipe(
            Effect.map((text) => remembered(text, host, port).map((key) => key.type)),
            Effect.mapError(unavailable)
          )
        ),
        standing: Effect.fn("HostKeys.standing")((host, port, key) =>
          read.pipe(
            Effect.map((text) => standingIn(text, host, port, key)),
            Effect.mapError(unavailable)
          )
        ),
        confirm: Effect.fn("HostKeys.confirm")((host, port, print, replaces) =>
          Effect.gen(function*() {
            yield* files.makeDirectory(path.dirname(file))
            return yield* Effect.gen(function*() {
              const text = yield* read
              const confirmed = withConfirmed(text, host, port, print, replaces)
              if (Either.isLeft(confirmed)) return confirmed.left
              if (confirmed.right !== text) yield* files.write(file, confirmed.right, { mode: 0o600 })
              return "confirmed" as const
            }).pipe(locks.withLock(hostKeysLock(file)))
          }).pipe(Effect.mapError(unavailable))
        ),
        check: Effect.fn("HostKeys.check")((host, port, key) =>
          Effect.gen(function*() {
            const now = judge(yield* read, host, port, key)
            if (now.answer !== "remembered") return now.answer
            yield* files.makeDirectory(path.dirname(file))
            // Another connection may have been first: judge again what the file says under the lock.
            return yield* Effect.gen(function*() {
              const held = judge(yield* read, host, port, key)
              if (held.answer === "remembered") yield* files.write(file, held.text, { mode: 0o600 })
              return held.answer
            }).pipe(locks.withLock(hostKeysLock(file)))
          }).pipe(Effect.mapError(unavailable))
        )
      })
    })
  )
