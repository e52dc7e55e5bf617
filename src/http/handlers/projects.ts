import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { readProject } from "../../pipelines/inspect.ts"
import { makeSharedOverview } from "../../pipelines/overview/overview.ts"
import { listProjects } from "../../pipelines/projects/projects.ts"
import { orApiError } from "../api/annotations.ts"
import { BerthApi } from "../api/BerthApi.ts"
import { loadOnUse } from "../wire.ts"

const loadEditorDiff = () => import("../../pipelines/textDiffs.ts")
const loadBuild = () => import("../../pipelines/build.ts")
const loadPull = () => import("../../pipelines/pull.ts")
const loadCompare = () => import("../../pipelines/compare.ts")
const loadTrust = () => import("../../pipelines/trust.ts")
const loadSecrets = () => import("../../pipelines/secrets/projectSecrets.ts")
const loadAdoption = () => import("../../pipelines/adoption/adoptStack.ts")
const loadInit = () => import("../../pipelines/init.ts")

export const ProjectsHandlers = HttpApiBuilder.group(BerthApi, "projects", (handlers) =>
  handlers
    .handle("listProjects", () => orApiError(listProjects()))
    .handle("inspectProject", ({ payload }) => orApiError(readProject(payload)))
    .handle("compareProject", ({ payload }) => orApiError(loadOnUse(loadCompare, ({ compare }) => compare(payload))))
    .handle("initProject", ({ payload }) => orApiError(loadOnUse(loadInit, ({ init }) => init(payload))))
    .handle(
      "adoptStack",
      ({ payload }) => orApiError(loadOnUse(loadAdoption, ({ adoptStack }) => adoptStack(payload)))
    )
    .handle(
      "showPrograms",
      ({ payload }) => orApiError(loadOnUse(loadTrust, ({ readPrograms }) => readPrograms(payload)))
    )
    .handle(
      "trustProject",
      ({ payload }) => orApiError(loadOnUse(loadTrust, ({ trustPrograms }) => trustPrograms(payload)))
    )
    .handle(
      "listSecrets",
      ({ urlParams }) => orApiError(loadOnUse(loadSecrets, ({ listSecrets }) => listSecrets(urlParams)))
    )
    .handle(
      "checkSecrets",
      ({ payload }) => orApiError(loadOnUse(loadSecrets, ({ checkSecrets }) => checkSecrets(payload)))
    )
    .handle(
      "setSecret",
      ({ payload }) => orApiError(loadOnUse(loadSecrets, ({ setSecret }) => setSecret(payload)))
    )
    .handle(
      "changeRecipients",
      ({ payload }) =>
        orApiError(loadOnUse(loadSecrets, ({ changeProjectRecipients }) => changeProjectRecipients(payload)))
    )
    .handle("build", ({ payload }) => orApiError(loadOnUse(loadBuild, ({ build }) => build(payload))))
    .handle("pull", ({ payload }) => orApiError(loadOnUse(loadPull, ({ pull }) => pull(payload))))
    .handle(
      "editorDiff",
      ({ payload }) => orApiError(loadOnUse(loadEditorDiff, ({ editorDiff }) => editorDiff(payload)))
    ))

export const OverviewHandlers = HttpApiBuilder.group(
  BerthApi,
  "overview",
  (handlers) => Effect.map(makeSharedOverview, (overview) => handlers.handle("overview", () => orApiError(overview)))
)
