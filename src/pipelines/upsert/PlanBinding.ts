import { Option } from "effect"
import type { AppPlan } from "../applications/appPlan.ts"
import type { PortDecision } from "./hostPort/decideHostPort.ts"
import type { LiveState } from "./inputs/findLive.ts"
import type { PlatformTarget } from "./inputs/target.ts"
import type { RecordAction } from "./record/decideRecord.ts"
import type { RouteDecision } from "./route/decideRoute.ts"
import type { PlannedSteps } from "./steps/matchesPlan.ts"

/** Decisions on all steps, made before the first of them runs, with their inputs. */
export interface Decisions {
  readonly plan: AppPlan
  readonly target: PlatformTarget
  readonly live: LiveState
  readonly sync: Option.Option<RecordAction>
  readonly port: Option.Option<PortDecision>
  readonly route: Option.Option<RouteDecision>
}

/** Binds an upsert to a plan. */
export interface PlanBinding {
  /** Decisions to execute unchanged. None after a restart: the steps then read and decide again. */
  readonly decisions: Option.Option<Decisions>
  readonly planned: PlannedSteps
}

/** Binding without a plan: each step reads and decides when it is reached. */
export const unbound: PlanBinding = { decisions: Option.none(), planned: {} }
