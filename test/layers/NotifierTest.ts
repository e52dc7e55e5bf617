import { Effect, Layer } from "effect"
import { Notifier } from "../../src/services/notify/Notifier.ts"

/** A notifier that sends nothing, with what a test listens to in place of parts of it. */
export const notifierTest = (heard: Partial<Notifier["Type"]> = {}): Layer.Layer<Notifier> =>
  Layer.succeed(Notifier, {
    noticesOf: () => Effect.succeed([]),
    added: () => Effect.void,
    serve: Effect.void,
    driftJudged: () => Effect.void,
    backupJudged: () => Effect.void,
    test: () => Effect.die("no target"),
    ...heard
  })
