import { Effect } from "effect"
import { CurrentCaller } from "../../services/access/Caller.ts"
import { maySeeValues } from "../../services/access/rights.ts"
import { discloseTo, type Disclosure } from "../../services/platform/discloseRecord.ts"
import { secretsInUse } from "../../services/secrets/secretsInUse.ts"
import type { Settings } from "../../services/settings/Settings.ts"

/** Filter of the platform's answers for the caller of the current request. */
export const disclosure: Effect.Effect<Disclosure, never, Settings> = Effect.gen(function*() {
  const { role } = yield* CurrentCaller
  return discloseTo({ secrets: yield* secretsInUse, seesValues: maySeeValues(role) })
})

/** Answer of a call as it is relayed to the caller. Every answer of the platform passes through here. */
export const relayAnswer = <E, R>(call: Effect.Effect<unknown, E, R>): Effect.Effect<unknown, E, R | Settings> =>
  Effect.flatMap(call, (answer) => Effect.map(disclosure, ({ body }) => body(answer)))
