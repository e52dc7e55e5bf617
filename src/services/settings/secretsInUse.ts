import { Effect, Option, Redacted, Ref } from "effect"
import { parseHeaderList } from "../../schema/basics.ts"
import { secretSettings, type SettingsUnavailable } from "../../schema/settings.ts"
import { containsReferences, type FindSetting, type SettingsDocument } from "./document.ts"
import type { makeServerReader, notifyTargetReader } from "./readLists.ts"
import type { makeTokenReader } from "./readTokens.ts"
import type { Settings } from "./Settings.ts"
import type { Snapshot } from "./SettingsFile.ts"

type Secrets = ReadonlyArray<Redacted.Redacted>

/** Password in the address of a database, as written and decoded: an error message may repeat either. */
const passwordsIn = (address: Redacted.Redacted): Secrets => {
  const written = /^[^:]+:\/\/[^:@/]*:([^@/]+)@|[?&]password=([^&]+)/.exec(Redacted.value(address))
  const password = written?.[1] ?? written?.[2]
  if (password === undefined) return []
  const meant = new URLSearchParams(`p=${password.replaceAll("+", "%2B")}`).get("p")
  return [password, meant ?? password].map((text) => Redacted.make(text))
}

/** The values of a list of headers, and the credentials in them without their scheme. */
const valuesIn = (headers: Redacted.Redacted): Secrets =>
  Object.values(parseHeaderList(Redacted.value(headers))).flatMap((value) =>
    [value, value.replace(/^\S+ /, "")].map((text) => Redacted.make(text))
  )

interface Read {
  /** Cache key; absent if the document contains references, whose values may change independently. */
  readonly document: SettingsDocument | undefined
  readonly secrets: Secrets
}

const nothing: Read = { document: undefined, secrets: [] }

const areSame = (one: Secrets, other: Secrets) =>
  one.length === other.length &&
  one.map(Redacted.value).join("\0") === other.map(Redacted.value).join("\0")

/**
 * Every secret of the file that can be read. Returns the same list object while the secrets are unchanged, so that
 * derived values can be cached. While the file cannot be read, the last secrets stay in use.
 */
export const makeSecrets = (
  current: Effect.Effect<Snapshot, SettingsUnavailable>,
  find: FindSetting,
  servers: ReturnType<typeof makeServerReader>,
  tokens: ReturnType<typeof makeTokenReader>,
  targets: ReturnType<typeof notifyTargetReader>
): Effect.Effect<Effect.Effect<Secrets>> =>
  Effect.gen(function*() {
    const last = yield* Ref.make(nothing)

    const readFrom = (document: SettingsDocument) =>
      Effect.gen(function*() {
        const named = yield* Effect.forEach(
          secretSettings,
          (name) => Effect.map(Effect.option(find(document, name)), Option.flatten)
        )
        const ofServers = yield* Effect.forEach(document.servers, (stored, index) => servers.secrets({ stored, index }))
        const passwords = yield* Effect.map(
          Effect.option(find(document, "state.url")),
          (url) => Option.match(Option.flatten(url), { onNone: () => [], onSome: passwordsIn })
        )
        const headers = yield* Effect.option(find(document, "telemetry.headers"))
        return [
          ...named.flatMap(Option.toArray),
          ...passwords,
          ...Option.match(Option.flatten(headers), { onNone: () => [], onSome: valuesIn }),
          ...ofServers.flat(),
          ...yield* tokens.secrets(document.tokens),
          ...yield* targets.secrets(document.targets)
        ]
      })

    return Effect.gen(function*() {
      const before = yield* Ref.get(last)
      const now = yield* Effect.option(Effect.flatMap(current, ({ document }) => document))
      if (Option.isNone(now) || now.value === before.document) return before.secrets
      const found = yield* readFrom(now.value)
      const secrets = areSame(before.secrets, found) ? before.secrets : found
      yield* Ref.set(last, { document: containsReferences(now.value) ? undefined : now.value, secrets })
      return secrets
    })
  })

/** Bounds the memory of a service that resolves changing secrets for months. */
const mostRemembered = 2_000

interface Joined {
  readonly stored: Secrets
  readonly remembered: Secrets
  readonly all: Secrets
}

/**
 * Adds secrets that programs have resolved to those of the settings, so that every door scrubs them. A program's output is
 * not in the file, so nothing else knows these values.
 */
export const makeRememberedSecrets = (
  stored: Effect.Effect<Secrets>
): Effect.Effect<Pick<Settings["Type"], "rememberSecrets" | "secrets">> =>
  Effect.gen(function*() {
    const remembered = yield* Ref.make<Secrets>([])
    const last = yield* Ref.make<Joined>({ stored: [], remembered: [], all: [] })
    return {
      rememberSecrets: (values) =>
        Ref.update(remembered, (before) => {
          const known = new Set(before.map(Redacted.value))
          const added = values.filter((value) => !known.has(Redacted.value(value)))
          return added.length === 0 ? before : [...before, ...added].slice(-mostRemembered)
        }),
      // The same object until one of both changes: forms of the secrets are cached by list.
      secrets: Effect.gen(function*() {
        const [ofFile, others] = [yield* stored, yield* Ref.get(remembered)]
        if (others.length === 0) return ofFile
        const before = yield* Ref.get(last)
        if (before.stored === ofFile && before.remembered === others) return before.all
        const all = [...ofFile, ...others]
        yield* Ref.set(last, { stored: ofFile, remembered: others, all })
        return all
      })
    }
  })
