import { HttpApiBuilder } from "@effect/platform"
import { executeStackAction } from "../../pipelines/stacks/executeStackAction.ts"
import { orApiError } from "../api/annotations/ApiError.ts"
import { BerthApi } from "../api/BerthApi.ts"

export const StacksHandlers = HttpApiBuilder.group(BerthApi, "stacks", (handlers) =>
  handlers
    .handle("stopStack", ({ payload }) => orApiError(executeStackAction("stop", payload)))
    .handle("startStack", ({ payload }) => orApiError(executeStackAction("start", payload)))
    .handle("restartStack", ({ payload }) => orApiError(executeStackAction("restart", payload)))
    .handle("removeStack", ({ payload }) => orApiError(executeStackAction("remove", payload))))
