import { HttpApiBuilder } from "@effect/platform"
import { deploy } from "../../pipelines/deploy/deploy.ts"
import { orApiError } from "../api/ApiError.ts"
import { BerthApi } from "../api/BerthApi.ts"

export const DeployHandlers = HttpApiBuilder.group(
  BerthApi,
  "deploy",
  (handlers) => handlers.handle("deploy", ({ payload }) => orApiError(deploy(payload)))
)
