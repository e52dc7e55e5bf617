import { Effect, Option } from "effect"
import { CurrentCaller } from "../../../services/access/Caller.ts"
import { maySeeValues } from "../../../services/access/rights.ts"
import { scrubSecrets } from "../../../services/secrets/secretsInUse.ts"
import type { Settings } from "../../../services/settings/Settings.ts"
import { maskComposeValues } from "./maskComposeValues.ts"

/**
 * Compose file as the caller of the current request may read it; none if it cannot be masked. Yields first, because
 * parsing takes a while.
 */
export const redactCompose = (text: string): Effect.Effect<Option.Option<string>, never, Settings> =>
  Effect.gen(function*() {
    const { role } = yield* CurrentCaller
    if (!maySeeValues(role)) yield* Effect.yieldNow()
    return yield* Effect.transposeMapOption(
      maySeeValues(role) ? Option.some(text) : maskComposeValues(text),
      (shown) => scrubSecrets(shown)
    )
  })
