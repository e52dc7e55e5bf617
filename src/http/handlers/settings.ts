import { HttpApiBuilder } from "@effect/platform"
import { orApiError } from "../api/annotations/ApiError.ts"
import { BerthApi } from "../api/BerthApi.ts"
import { loadOnUse } from "../wire/loadOnUse.ts"

const loadChange = () => import("../../pipelines/settings/changeSettings.ts")
const loadShow = () => import("../../pipelines/settings/showSettings.ts")

export const SettingsHandlers = HttpApiBuilder.group(BerthApi, "settings", (handlers) =>
  handlers
    .handle("listSettings", () => orApiError(loadOnUse(loadShow, ({ showSettings }) => showSettings)))
    .handle(
      "changeSettings",
      ({ payload, urlParams }) =>
        orApiError(
          loadOnUse(loadChange, ({ changeSettings }) => changeSettings(payload, urlParams.plan === "true"))
        )
    ))
