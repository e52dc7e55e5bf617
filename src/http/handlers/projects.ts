import { HttpApiBuilder } from "@effect/platform"
import { compare } from "../../pipelines/compare/compare.ts"
import { init } from "../../pipelines/init/init.ts"
import { listProjects } from "../../pipelines/projects/listProjects.ts"
import { orApiError } from "../api/ApiError.ts"
import { BerthApi } from "../api/BerthApi.ts"

export const ProjectsHandlers = HttpApiBuilder.group(
  BerthApi,
  "projects",
  (handlers) =>
    handlers
      .handle("listProjects", () => orApiError(listProjects()))
      .handle("compareProject", ({ payload }) => orApiError(compare(payload)))
      .handle("initProject", ({ payload }) => orApiError(init(payload)))
)
