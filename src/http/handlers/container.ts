import { HttpApiBuilder } from "@effect/platform"
import { build } from "../../pipelines/build/build.ts"
import { deploy } from "../../pipelines/deploy/deploy.ts"
import { editorDiff } from "../../pipelines/editor/editorDiff.ts"
import { pull } from "../../pipelines/pull/pull.ts"
import { orApiError } from "../api/ApiError.ts"
import { BerthApi } from "../api/BerthApi.ts"

export const ContainerHandlers = HttpApiBuilder.group(
  BerthApi,
  "container",
  (handlers) =>
    handlers
      .handle("build", ({ payload }) => orApiError(build(payload)))
      .handle("deploy", ({ payload }) => orApiError(deploy(payload)))
      .handle("pull", ({ payload }) => orApiError(pull(payload)))
      .handle("editorDiff", ({ payload }) => orApiError(editorDiff(payload)))
)
