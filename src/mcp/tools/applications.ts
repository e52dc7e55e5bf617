import { Effect, Schema } from "effect"
import { Berth } from "../../client/Berth.ts"
import { Removal, RemovalRequest, Removed, Verification } from "../../schema/applications.ts"
import { PlanHash } from "../../schema/basics.ts"
import { AppRequest, Drift, PlatformPlan } from "../../schema/upsert.ts"
import { awaitRunOutcome, defineTool, omitNull, RunBrief } from "../answers.ts"

const declared = { ...AppRequest.fields, appName: omitNull(AppRequest.fields.appName) }
const input = Schema.Struct(declared)

export const appDrift = defineTool({
  name: "app_drift",
  title: "Drift of an application",
  description:
    "Compares an application on the platform with its entry in the project's platform.json, and tells which " +
    "side has moved since the last upsert. What the platform keeps to itself is unknown, not different.",
  readOnly: true,
  input,
  output: Drift,
  call: (payload) => Effect.flatMap(Berth, ({ use }) => use((api) => api.drift({ payload })))
})

export const planApp = defineTool({
  name: "plan_app",
  title: "Plan an upsert",
  description: "Plans an upsert: its changes on the platform, in its " +
    "variables, the proxy's routes and the git hook. Changes nothing; its planHash is what apply_app needs.",
  readOnly: true,
  input,
  output: PlatformPlan,
  call: (payload) => Effect.flatMap(Berth, ({ use }) => use((api) => api.platformPlan({ payload })))
})

export const applyApp = defineTool({
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
  call: (payload, heard) => awaitRunOutcome((api) => api.upsert({ payload }), heard)
})

export const verifyApp = defineTool({
  name: "verify_app",
  title: "Verify the way to an application",
  description: "Checks that a request gets through to an application: the platform says that it runs, its port takes " +
    "connections, the proxy leads its domain there, and HTTPS answers. Every hop is told, also after one that fails.",
  readOnly: true,
  input,
  output: Verification,
  call: (payload) => Effect.flatMap(Berth, ({ use }) => use((api) => api.verify({ payload })))
})

const removable = {
  uuid: Schema.NonEmptyString.annotations({ description: "The application's uuid, as overview tells it." })
}

export const planRemoval = defineTool({
  name: "plan_removal",
  title: "Plan a removal",
  description:
    "Parts that would go with an application: its route in the proxy file and its webhooks; and what stays, and " +
    "why. Changes nothing; its planHash is what remove_app needs.",
  readOnly: true,
  input: Schema.Struct(removable),
  output: Removal,
  call: (path) => Effect.flatMap(Berth, ({ use }) => use((api) => api.planRemoval({ path })))
})

export const removeApp = defineTool({
  name: "remove_app",
  title: "Remove as planned",
  description: "Removes an application from the platform with its route and webhooks, exactly as plan_removal said; " +
    "where something has moved since, nothing is changed. Cannot be undone; stays tells what could not be removed.",
  readOnly: false,
  input: Schema.Struct({
    ...removable,
    keepRoute: RemovalRequest.fields.keepRoute,
    planHash: PlanHash.annotations({ description: "The planHash that plan_removal answered." })
  }),
  output: Removed,
  call: ({ uuid, ...payload }) =>
    Effect.flatMap(Berth, ({ use }) => use((api) => api.removeApplication({ path: { uuid }, payload })))
})
