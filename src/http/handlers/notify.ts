import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { Notifier } from "../../services/notify/Notifier.ts"
import { orApiError } from "../api/annotations/ApiError.ts"
import { BerthApi } from "../api/BerthApi.ts"

export const NotifyHandlers = HttpApiBuilder.group(BerthApi, "notify", (handlers) =>
  Effect.map(
    Notifier,
    (notifier) => handlers.handle("testNotify", ({ path }) => orApiError(notifier.test(path.name)))
  ))
