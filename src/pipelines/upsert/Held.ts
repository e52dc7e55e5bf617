import { Option } from "effect"
import type { AppPlan } from "../applications/appPlan.ts"
import type { Planned } from "./agreed.ts"
import type { RouteDecision } from "./decideRoute.ts"
import type { Live } from "./findLive.ts"
import type { PortDecision } from "./hostPortAction.ts"
import type { SyncAction } from "./syncAction.ts"
import type { Target } from "./target.ts"

/** What the steps of an upsert were decided to do before any of them is done, and what that was read from. */
export interface Decisions {
  readonly plan: AppPlan
  readonly target: Target
  readonly live: Live
  readonly sync: Option.Option<SyncAction>
  readonly port: Option.Option<PortDecision>
  readonly route: Option.Option<RouteDecision>
}

/** What holds an upsert to a plan. */
export interface Held {
  /** Executed as they are. Nothing in an attempt that goes on after a restart: its steps read and decide again. */
  readonly decisions: Option.Option<Decisions>
  readonly planned: Planned
}

/** Of an upsert without a plan: each step reads and decides when it is reached. */
export const notHeld: Held = { decisions: Option.none(), planned: {} }
