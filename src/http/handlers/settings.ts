import { HttpApiBuilder } from "@effect/platform"
import { changeSettings } from "../../pipelines/settings/changeSettings.ts"
import { showSettings } from "../../pipelines/settings/showSettings.ts"
import { orApiError } from "../api/annotations/ApiError.ts"
import { BerthApi } from "../api/BerthApi.ts"

export const SettingsHandlers = HttpApiBuilder.group(BerthApi, "settings", (handlers) =>
  handlers
    .handle("listSettings", () => orApiError(showSettings))
    .handle(
      "changeSettings",
      ({ payload, urlParams }) => orApiError(changeSettings(payload, urlParams.plan === "true"))
    ))
