import { Effect } from "effect"
import { type HostPortHidden, type NextPort, NoPortLeft } from "../../schema/routes/Route.ts"
import type { Platform } from "../../services/platform/Platform.ts"
import { logScrubbedWarning } from "../../services/secrets/secretsInUse.ts"
import { bridgePorts, isBridgePort } from "../../services/settings/bridgePorts.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { withAnswerBudget } from "../../services/upstream/answerBudget.ts"
import { highestPort, mergePortUses, routeUses, type UsedPort, variableUses } from "./declaredUses.ts"

/** The highest port that counts as taken when none is. */
const base = 2006
/** The port that the first application of all gets. */
export const firstPort = base + 1

/** The ports in use, ascending and each once. */
export const listPortNumbers = (uses: ReadonlyArray<UsedPort>): ReadonlyArray<number> =>
  Array.from(new Set(uses.map(({ port }) => port))).sort((one, other) => one - other)

/** The port after the highest of these; those of bridges, which are gone in a moment, do not count. */
export const findPortAfter = (used: ReadonlyArray<number>): Effect.Effect<number, NoPortLeft, Settings> =>
  Effect.gen(function*() {
    const bridges = yield* Effect.orElseSucceed(bridgePorts, () => ({ first: 0, last: 0 }))
    const highest = used.findLast((port) => !isBridgePort(bridges, port)) ?? base
    const next = isBridgePort(bridges, highest + 1) ? bridges.last + 1 : highest + 1
    return next > highestPort ? yield* new NoPortLeft({ highest }) : next
  })

/**
 * The ports in use, by applications and in the proxy file, and the one after the highest. What cannot be read is left
 * out, but a port that the platform keeps to itself fails with `HostPortHidden`: it would be handed out again.
 */
export const nextPort: Effect.Effect<NextPort, HostPortHidden | NoPortLeft, Platform | Settings | Ssh> = Effect.gen(
  function*() {
    const { unread, uses } = mergePortUses(yield* Effect.all([variableUses, routeUses], { concurrency: "unbounded" }))
    yield* Effect.forEach(unread, logScrubbedWarning, { discard: true })
    const used = listPortNumbers(uses)
    return { nextPort: yield* findPortAfter(used), usedPorts: used }
  }
).pipe(withAnswerBudget, Effect.withSpan("nextPort"))
