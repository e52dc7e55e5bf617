import { HttpApiBuilder } from "@effect/platform"
import { build } from "../../pipelines/build/build.ts"
import { readProject } from "../../pipelines/inspect/readProject.ts"
import { listProjects } from "../../pipelines/projects/listProjects.ts"
import { orApiError } from "../api/annotations/ApiError.ts"
import { BerthApi } from "../api/BerthApi.ts"
import { loadOnUse } from "../wire/loadOnUse.ts"

const loadEditorDiff = () => import("../../pipelines/editor/editorDiff.ts")
const loadPull = () => import("../../pipelines/pull/pull.ts")
const loadCompare = () => import("../../pipelines/compare/compare.ts")
const loadInit = () => import("../../pipelines/init/init.ts")

export const ProjectsHandlers = HttpApiBuilder.group(BerthApi, "projects", (handlers) =>
  handlers
    .handle("listProjects", () => orApiError(listProjects()))
    .handle("inspectProject", ({ payload }) => orApiError(readProject(payload)))
    .handle("compareProject", ({ payload }) => orApiError(loadOnUse(loadCompare, ({ compare }) => compare(payload))))
    .handle("initProject", ({ payload }) => orApiError(loadOnUse(loadInit, ({ init }) => init(payload))))
    .handle("build", ({ payload }) => orApiError(build(payload)))
    .handle("pull", ({ payload }) => orApiError(loadOnUse(loadPull, ({ pull }) => pull(payload))))
    .handle(
      "editorDiff",
      ({ payload }) => orApiError(loadOnUse(loadEditorDiff, ({ editorDiff }) => editorDiff(payload)))
    ))
