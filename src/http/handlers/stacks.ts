import { HttpApiBuilder } from "@effect/platform"
import { stackAction } from "../../pipelines/stacks/stackAction.ts"
import { orApiError } from "../api/annotations/ApiError.ts"
import { BerthApi } from "../api/BerthApi.ts"

export const StacksHandlers = HttpApiBuilder.group(BerthApi, "stacks", (handlers) =>
  handlers
    .handle("stopStack", ({ payload }) => orApiError(stackAction("stop", payload)))
    .handle("startStack", ({ payload }) => orApiError(stackAction("start", payload)))
    .handle("restartStack", ({ payload }) => orApiError(stackAction("restart", payload)))
    .handle("removeStack", ({ payload }) => orApiError(stackAction("remove", payload))))
