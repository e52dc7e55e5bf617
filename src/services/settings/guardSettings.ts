import { Effect, Either, Option, Redacted, Ref } from "effect"
import { randomUUID } from "node:crypto"
import type { GuardSettings } from "../../schema/Settings.ts"
import type { SettingsStore, Snapshot } from "./file/SettingsStore.ts"
import type { FindSetting } from "./read/findSetting.ts"
import { parseHttpSettings, type SettingsDocument } from "./read/settingsDocument.ts"
import type { makeTokenReader } from "./read/storedTokens.ts"

/** True when a text that cannot be parsed seems to contain `http` settings, which may require a token. */
const namesHttp = (text: string): boolean => /(?:^|[\s{,])(["']?)http\1\s*:(?!\/\/)/.test(text)
const isEmpty = (text: string): boolean => text.trim() === ""
const wantsToken = ({ token, tokens }: GuardSettings): boolean => Option.isSome(token) || tokens.length > 0

const unguarded: GuardSettings = { token: Option.none(), tokens: [], hosts: [], origins: [] }
// Replaces a required token that cannot be resolved with one that no client has.
const closed = (open: GuardSettings = unguarded): GuardSettings => ({
  ...open,
  token: Option.some(Redacted.make(randomUUID()))
})

const lost =
  "they required a token before, and name none now. Nobody is let in until they name one again, or Berth is " +
  "restarted"

/** The document, or its `http` settings alone if another part is invalid. */
const documentIn = ({ document, text }: Snapshot): Option.Option<SettingsDocument> =>
  Option.orElse(Either.getRight(document), () => parseHttpSettings(text))

/**
 * Reads the current `http` settings. While the file is unreadable, empty or missing, as for a moment during a save, the
 * last settings apply; without earlier ones, a token that cannot be resolved refuses every request.
 * Removing all tokens while the service runs refuses every request too, instead of opening the service.
 */
export const makeGuard = (
  store: SettingsStore,
  find: FindSetting,
  tokens: ReturnType<typeof makeTokenReader>
): Effect.Effect<Effect.Effect<GuardSettings>> =>
  Effect.gen(function*() {
    const last = yield* Ref.make(Option.none<GuardSettings>())
    const complaint = yield* Ref.make("")

    const complain = (message: string) =>
      Effect.flatMap(
        Ref.getAndSet(complaint, message),
        (before) =>
          Effect.when(Effect.logWarning(`The http settings cannot be used now: ${message}`), () => message !== before)
      )
    const orLast = (fallback: () => GuardSettings) => Effect.map(Ref.get(last), Option.getOrElse(fallback))

    const keep = (settings: GuardSettings) =>
      Effect.gen(function*() {
        const before = Option.filter(yield* Ref.get(last), wantsToken)
        const isLost = Option.isSome(before) && !wantsToken(settings)
        if (isLost) yield* complain(lost)
        else yield* Ref.set(complaint, "")
        const kept = isLost ? closed(settings) : settings
        yield* Ref.set(last, Option.some(kept))
        return kept
      })

    const readFrom = (document: SettingsDocument) =>
      Effect.all({
        token: find(document, "http.token"),
        tokens: Effect.flatMap(find(document, "http.token"), (general) => tokens.all(document.tokens, general)),
        hosts: Effect.map(find(document, "http.hosts"), Option.getOrElse(() => unguarded.hosts)),
        origins: Effect.map(find(document, "http.origins"), Option.getOrElse(() => unguarded.origins))
      }).pipe(
        Effect.flatMap(keep),
        Effect.catchAll((error) => Effect.zipRight(complain(error.message), orLast(closed)))
      )

    const readSnapshot = (snapshot: Snapshot) =>
      Effect.gen(function*() {
        const document = documentIn(snapshot)
        if (isEmpty(snapshot.text) && Option.isSome(yield* Ref.get(last))) return yield* orLast(closed)
        return yield* Option.match(document, {
          // The text is empty if it is unconfirmed or cannot be decoded.
          onNone: () => orLast(() => isEmpty(snapshot.text) || namesHttp(snapshot.text) ? closed() : unguarded),
          onSome: readFrom
        })
      })

    return store.current.pipe(
      Effect.option,
      Effect.flatMap(Option.match({ onNone: () => orLast(() => unguarded), onSome: readSnapshot }))
    )
  })
