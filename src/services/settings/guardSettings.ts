import { Effect, Either, Option, Redacted, Ref } from "effect"
import { randomUUID } from "node:crypto"
import type { GuardSettings } from "../../schema/Settings.ts"
import type { Find } from "./findSetting.ts"
import { httpSettings, type SettingsDocument } from "./settingsDocument.ts"
import type { SettingsStore, Snapshot } from "./SettingsStore.ts"
import type { tokenReader } from "./storedTokens.ts"

const unguarded: GuardSettings = { token: Option.none(), tokens: [], hosts: [], origins: [] }
// A token is wanted but cannot be known: nobody has this one.
const closed = (): GuardSettings => ({ ...unguarded, token: Option.some(Redacted.make(randomUUID())) })

/** The document, or the `http` settings alone of one that is broken elsewhere. */
const documentIn = ({ document, text }: Snapshot): Option.Option<SettingsDocument> =>
  Option.orElse(Either.getRight(document), () => httpSettings(text))

/**
 * The `http` settings as the file has them now. While it cannot be read those that were read last hold; where there
 * never were any, a token that cannot be resolved keeps everybody out.
 */
export const makeGuard = (
  store: SettingsStore,
  find: Find,
  tokens: ReturnType<typeof tokenReader>
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

    const readFrom = (document: SettingsDocument) =>
      Effect.all({
        token: find(document, "http.token"),
        tokens: Effect.flatMap(find(document, "http.token"), (general) => tokens.all(document.tokens, general)),
        hosts: Effect.map(find(document, "http.hosts"), Option.getOrElse(() => unguarded.hosts)),
        origins: Effect.map(find(document, "http.origins"), Option.getOrElse(() => unguarded.origins))
      }).pipe(
        Effect.tap((settings) => Ref.set(last, Option.some(settings))),
        Effect.zipLeft(Ref.set(complaint, "")),
        Effect.catchAll((error) => Effect.zipRight(complain(error.message), orLast(closed)))
      )

    return store.current.pipe(
      Effect.option,
      Effect.map(Option.flatMap(documentIn)),
      Effect.flatMap(Option.match({ onNone: () => orLast(() => unguarded), onSome: readFrom }))
    )
  })
