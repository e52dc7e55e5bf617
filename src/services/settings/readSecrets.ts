import { Effect, Option, Redacted, Ref } from "effect"
import { secretSettings, type SettingsUnavailable } from "../../schema/Settings.ts"
import type { Find } from "./findSetting.ts"
import type { serverReader } from "./serverReader.ts"
import { holdsReferences, type SettingsDocument } from "./settingsDocument.ts"
import type { Snapshot } from "./SettingsStore.ts"
import type { tokenReader } from "./storedTokens.ts"

type Secrets = ReadonlyArray<Redacted.Redacted>

/** The password of a database's address, as it stands there and as it is meant: what refuses it may repeat either. */
const passwordsIn = (address: Redacted.Redacted): Secrets => {
  const written = /^[^:]+:\/\/[^:@/]*:([^@/]+)@|[?&]password=([^&]+)/.exec(Redacted.value(address))
  const password = written?.[1] ?? written?.[2]
  if (password === undefined) return []
  const meant = new URLSearchParams(`p=${password.replaceAll("+", "%2B")}`).get("p")
  return [password, meant ?? password].map((text) => Redacted.make(text))
}

interface Read {
  /** What they were read from, unless it names an environment variable or a file, which may change while it does not. */
  readonly document: SettingsDocument | undefined
  readonly secrets: Secrets
}

const nothing: Read = { document: undefined, secrets: [] }

const areSame = (one: Secrets, other: Secrets) =>
  one.length === other.length &&
  one.map(Redacted.value).join("\0") === other.map(Redacted.value).join("\0")

/**
 * Every secret of the file that can be read. It is the same list for as long as the secrets are the same, so that what is
 * made of it can be kept; while the file cannot be read, those that were read last are still in use.
 */
export const makeSecrets = (
  current: Effect.Effect<Snapshot, SettingsUnavailable>,
  find: Find,
  servers: ReturnType<typeof serverReader>,
  tokens: ReturnType<typeof tokenReader>
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
        return [
          ...named.flatMap(Option.toArray),
          ...passwords,
          ...ofServers.flat(),
          ...yield* tokens.secrets(document.tokens)
        ]
      })

    return Effect.gen(function*() {
      const before = yield* Ref.get(last)
      const now = yield* Effect.option(Effect.flatMap(current, ({ document }) => document))
      if (Option.isNone(now) || now.value === before.document) return before.secrets
      const found = yield* readFrom(now.value)
      const secrets = areSame(before.secrets, found) ? before.secrets : found
      yield* Ref.set(last, { document: holdsReferences(now.value) ? undefined : now.value, secrets })
      return secrets
    })
  })
