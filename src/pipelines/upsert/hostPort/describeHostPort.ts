import { Effect, Either, Option } from "effect"
import type { Change } from "../../../schema/applications/Changelog.ts"
import { hostPortKey } from "../../../schema/applications/hostPortKey.ts"
import type { AppEnv } from "../../../schema/applications/PlatformApp.ts"
import { PortHidden } from "../../../schema/applications/Upsert.ts"
import { Disclosed } from "../../../schema/basics/Disclosed.ts"
import { quoteInput } from "../../../schema/words/quoted.ts"
import type { Platform } from "../../../services/platform/Platform.ts"
import type { AppPlan } from "../../applications/appPlan.ts"
import { findHostPort } from "../../applications/hostPort.ts"
import type { Fact } from "../../plans/Fact.ts"
import { decideWill, makePart, type Part, stop, unreadable } from "../steps/Part.ts"
import { buildHostPortChange, decideHostPort, HostPortAction, type PortDecision, readEnvs } from "./decideHostPort.ts"

/** Plan of the step `env`, with the change that the route's history needs. */
export interface DescribedHostPort {
  readonly part: Part
  readonly change: Option.Option<Change>
  /** None if no port is declared. */
  readonly decision: Option.Option<PortDecision>
  /** None if they cannot be read. */
  readonly envs: Option.Option<ReadonlyArray<AppEnv>>
}

const factOf = (envs: ReadonlyArray<AppEnv>): Fact =>
  Option.match(findHostPort(envs), {
    onNone: () => ({ value: null, now: "not set" }),
    onSome: (env) =>
      Disclosed.$match(env.value, {
        Known: ({ value }) => ({ value: [value], now: quoteInput(value) }),
        Absent: () => ({ value: [], now: "without a value" }),
        Hidden: () => ({ value: "hidden", now: "hidden" })
      })
  })

/** Plans the step `env`; a new application has no variables yet. */
export const describeHostPort = Effect.fn("describeHostPort")(function*(
  plan: AppPlan,
  uuid: Option.Option<string>
): Effect.fn.Return<DescribedHostPort, never, Platform> {
  if (Option.isNone(plan.port)) {
    const nothing = makePart({ step: "env", will: "nothing", detail: "no port" })
    const envs = yield* readEnvs(uuid)
    return { part: nothing, change: Option.none(), decision: Option.none(), envs: Either.getRight(envs) }
  }
  const port = plan.port.value
  const decision = yield* decideHostPort(uuid, port)
  const { action, envs } = decision
  const change = buildHostPortChange(action, port)
  const changes = Option.toArray(change).map((one) => ({ target: "variable" as const, ...one }))
  const facts = { hostPort: Either.match(envs, { onLeft: () => unreadable, onRight: factOf }) }
  const unknown = Either.match(envs, {
    onLeft: ({ message }) => [`${hostPortKey}: the variables could not be read: ${message}`],
    onRight: () => []
  })
  const planned = (detail: string, writes: ReadonlyArray<string>) =>
    makePart({ step: "env", will: decideWill(changes), detail, changes, writes, unknown, facts })
  return {
    change,
    decision: Option.some(decision),
    envs: Either.getRight(envs),
    part: HostPortAction.$match(action, {
      Keep: () => planned(`${hostPortKey} is ${port} already`, []),
      Create: () => planned(`sets ${hostPortKey} to ${port}`, ["createEnv"]),
      Change: ({ old }) => planned(`changes ${hostPortKey} from ${old ?? "no value"} to ${port}`, ["updateEnv"]),
      Stop: ({ reason }) =>
        stop("env", new PortHidden({ reason }).message, { unknown: [`${hostPortKey}: ${reason}`], facts })
    })
  }
})
