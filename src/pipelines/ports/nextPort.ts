import { Effect } from "effect"
import { type HostPortHidden, type NextPort, NoPortLeft } from "../../schema/routes/Route.ts"
import type { Platform } from "../../services/platform/Platform.ts"
import { logScrubbedWarning } from "../../services/secrets/secretsInUse.ts"
import { bridgePorts, isBridgePort } from "../../services/settings/bridgePorts.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { withAnswerBudget } from "../../services/upstream/answerBudget.ts"
import { highestPort, mergePortUses, routeUses, type UsedPort, variableUses } from "./declaredUses.ts"

/** Highest used port to assume if there is none. */
const base = 2006
/** Port of the very first application. */
export const firstPort = base + 1

/** Ports in use, ascending and without duplicates. */
export const listPortNumbers = (uses: ReadonlyArray<UsedPort>): ReadonlyArray<number> =>
  Array.from(new Set(uses.map(({ port }) => port))).sort((one, other) => one - other)

/** Port after the highest of these; ports of bridges do not count, because they are temporary. */
export const findPortAfter = (used: ReadonlyArray<number>): Effect.Effect<number, NoPortLeft, Settings> =>
  Effect.gen(function*() {
    const bridges = yield* Effect.orElseSucceed(bridgePorts, () => ({ first: 0, last: 0 }))
    const highest = used.findLast((port) => !isBridgePort(bridges, port)) ?? base
    const next = isBridgePort(bridges, highest + 1) ? bridges.last + 1 : highest + 1
    return next > highestPort ? yield* new NoPortLeft({ highest }) : next
  })

/**
 * Ports used by applications and in the proxy file, and the one after the highest. Unreadable sources are left out. A
 * port that the platform hides fails with `HostPortHidden`, because it could be assigned twice.
 */
export const nextPort: Effect.Effect<NextPort, HostPortHidden | NoPortLeft, Platform | Settings | Ssh> = Effect.gen(
  function*() {
    const { unread, uses } = mergePortUses(yield* Effect.all([variableUses, routeUses], { concurrency: "unbounded" }))
    yield* Effect.forEach(unread, logScrubbedWarning, { discard: true })
    const used = listPortNumbers(uses)
    return { nextPort: yield* findPortAfter(used), usedPorts: used }
  }
).pipe(withAnswerBudget, Effect.withSpan("nextPort"))
