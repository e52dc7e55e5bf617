import { Effect, Either, Layer, Ref } from "effect"
import {
  HostKeys,
  judge,
  type KeyMismatch,
  remembered,
  standingIn,
  withConfirmed
} from "../../src/services/ssh/HostKeys.ts"

/** Host keys in memory, on top of the known_hosts text given. */
export const HostKeysTest = (knownHosts = ""): Layer.Layer<HostKeys> =>
  Layer.effect(
    HostKeys,
    Effect.map(Ref.make(knownHosts), (text) =>
      HostKeys.of({
        file: "known_hosts",
        knownTypes: (host, port) =>
          Effect.map(Ref.get(text), (text) => remembered(text, host, port).map((key) => key.type)),
        standing: (host, port, key) => Effect.map(Ref.get(text), (text) => standingIn(text, host, port, key)),
        confirm: (host, port, print, replaces) =>
          Effect.flatMap(Ref.get(text), (before) =>
            Either.match(withConfirmed(before, host, port, print, replaces), {
              onLeft: (mismatch): Effect.Effect<KeyMismatch | "confirmed"> => Effect.succeed(mismatch),
              onRight: (confirmed) => Effect.as(Ref.set(text, confirmed), "confirmed" as const)
            })),
        check: (host, port, key) =>
          Ref.modify(text, (text) => {
            const judged = judge(text, host, port, key)
            return [judged.answer, judged.text]
          })
      }))
  )
