import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { listDeclaredEntries } from "../../pipelines/applications/platformFile.ts"
import { drift } from "../../pipelines/drift/drift.ts"
import { planUpsert } from "../../pipelines/upsert/planUpsert.ts"
import { upsert } from "../../pipelines/upsert/upsert.ts"
import { makeErrorBody, orApiError } from "../api/annotations/ApiError.ts"
import { BerthApi } from "../api/BerthApi.ts"
import { loadOnUse } from "../wire/loadOnUse.ts"

const loadAdopt = () => import("../../pipelines/adopt/adopt.ts")
const loadChangelog = () => import("../../pipelines/applications/readChangelog.ts")
const loadVerify = () => import("../../pipelines/verify/verify.ts")

export const DeclaredHandlers = HttpApiBuilder.group(BerthApi, "declared", (handlers) =>
  handlers
    .handle("drift", ({ payload }) => orApiError(drift(payload)))
    .handle("platformPlan", ({ payload }) => orApiError(planUpsert(payload)))
    .handle("upsert", ({ payload }) => orApiError(upsert(payload)))
    .handle("adopt", ({ payload }) => orApiError(loadOnUse(loadAdopt, ({ adopt }) => adopt(payload))))
    .handle("verify", ({ payload }) => orApiError(loadOnUse(loadVerify, ({ verify }) => verify(payload))))
    .handle("platformConfig", ({ urlParams: { path } }) =>
      listDeclaredEntries(path).pipe(Effect.catchTag("PlatformFileMissing", makeErrorBody), orApiError))
    .handle("changelog", ({ urlParams }) =>
      orApiError(loadOnUse(loadChangelog, ({ readChangelog }) =>
        readChangelog(urlParams)))))
