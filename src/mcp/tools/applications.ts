import { Effect, Schema } from "effect"
import { Berth } from "../../client/Berth.ts"
import { AppRequest, Drift } from "../../schema/Drift.ts"
import { PlanHash, PlatformPlan } from "../../schema/PlatformPlan.ts"
import { Verification } from "../../schema/Verify.ts"
import { RunBrief, runOutcome } from "../runOutcome.ts"
import { tool } from "../Tool.ts"
import { withoutNull } from "../withoutNull.ts"

const declared = { ...AppRequest.fields, appName: withoutNull(AppRequest.fields.appName) }
const input = Schema.Struct(declared)

export const appDrift = tool({
  name: "app_drift",
  title: "Drift of an application",
  description: "How an application on the platform differs from its entry in the project's platform.json, and which " +
    "side has moved since the last upsert. What the platform keeps to itself is unknown, not different.",
  readOnly: true,
  input,
  output: Drift,
  call: (payload) => Effect.flatMap(Berth, ({ use }) => use((api) => api.drift({ payload })))
})

export const planApp = tool({
  name: "plan_app",
  title: "Plan an upsert",
  description: "What making an application as platform.json declares it would change now: on the platform, in its " +
    "variables, the proxy's routes and the git hook. Changes nothing; its planHash is what apply_app needs.",
  readOnly: true,
  input,
  output: PlatformPlan,
  call: (payload) => Effect.flatMap(Berth, ({ use }) => use((api) => api.platformPlan({ payload })))
})

export const applyApp = tool({
  name: "apply_app",
  title: "Upsert as planned",
  description:
    "Makes an application as platform.json declares it, exactly as plan_app said; where something has moved " +
    "since, nothing is changed. Waits up to 45 seconds; a longer run goes on, and get_run tells its end.",
  readOnly: false,
  input: Schema.Struct({
    ...declared,
    planHash: PlanHash.annotations({ description: "The planHash that plan_app answered." })
  }),
  output: RunBrief,
  call: (payload, heard) => runOutcome((api) => api.upsert({ payload }), heard)
})

export const verifyApp = tool({
  name: "verify_app",
  title: "Verify the way to an application",
  description: "Whether a request gets through to an application: the platform says that it runs, its port takes " +
    "connections, the proxy leads its domain there, and HTTPS answers. Every hop is told, also after one that fails.",
  readOnly: true,
  input,
  output: Verification,
  call: (payload) => Effect.flatMap(Berth, ({ use }) => use((api) => api.verify({ payload })))
})
