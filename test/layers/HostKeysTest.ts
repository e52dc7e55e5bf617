import { Effect, Either, Layer, Ref } from "effect"
import { checkHostKey, listKeyTypes, previewHostKey, withConfirmed } from "../../src/services/hostKeys/checkHostKey.ts"
import { HostKeys } from "../../src/services/hostKeys/HostKeys.ts"
import { type KeyMismatch, withKeyFile } from "../../src/services/hostKeys/KeyMismatch.ts"

const file = "known_hosts"

/** Host keys in memory, on top of the known_hosts text given. */
export const HostKeysTest = (knownHosts = ""): Layer.Layer<HostKeys> =>
  Layer.effect(
    HostKeys,
    Effect.map(Ref.make(knownHosts), (text) =>
      HostKeys.of({
        file,
        knownTypes: (server) => Effect.map(Ref.get(text), (text) => listKeyTypes(text, server)),
        standing: (server, key) =>
          Effect.map(Ref.get(text), (text) => withKeyFile(file)(previewHostKey(text, server, key))),
        confirm: (server, print, replaces, addsRoute) =>
          Effect.flatMap(Ref.get(text), (before) =>
            Either.match(withConfirmed(before, server, print, replaces, addsRoute), {
              onLeft: (other): Effect.Effect<KeyMismatch | "confirmed"> => Effect.succeed({ ...other, file }),
              onRight: (confirmed) => Effect.as(Ref.set(text, confirmed), "confirmed" as const)
            })),
        check: (server, key) =>
          Ref.modify(text, (text) => {
            const judged = checkHostKey(text, server, key)
            return [withKeyFile(file)(judged.answer), judged.text]
          })
      }))
  )
