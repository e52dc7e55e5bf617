import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import {
  SettingsChange,
  SettingsChanged,
  SettingsChangeQuery,
  SettingsList
} from "../../schema/settings/SettingsList.ts"
import { forOperators, forViewers } from "./annotations/access.ts"
import * as failures from "./annotations/failures.ts"
import { annotateFailures } from "./annotations/failures.ts"

/** The settings file. */
export class SettingsApi extends HttpApiGroup.make("settings", { topLevel: true })
  .add(
    HttpApiEndpoint.get("listSettings", "/api/settings").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.settings))
      .addSuccess(SettingsList)
      .annotate(OpenApi.Summary, "List settings")
      .annotate(
        OpenApi.Description,
        "Every setting but the stored servers and the named tokens: its value, where that comes from, its meaning, and " +
          "what is wrong with it. Secrets are masked. The targets of notifications are listed without their addresses."
      )
  )
  .add(
    HttpApiEndpoint.patch("changeSettings", "/api/settings").annotateContext(forOperators)
      .annotateContext(
        annotateFailures(failures.body, [400, "A setting is unknown, or a value does not fit."], [
          403,
          "The setting or a reference is for the user of the service's machine alone."
        ], [500, "The settings cannot be read or written, or not changed without risk to the rest of the file."])
      )
      .setUrlParams(SettingsChangeQuery)
      .setPayload(SettingsChange)
      .addSuccess(SettingsChanged)
      .annotate(OpenApi.Summary, "Change settings")
      .annotate(
        OpenApi.Description,
        "Changes the lines of these settings in the file and no other byte; null removes a setting. With plan=true " +
          "nothing is written, and the diff is what would be. With a token, settings that run programs, let callers in " +
          "or lead out of the projects cannot be changed, and neither can a reference be written."
      )
  )
  .annotate(OpenApi.Title, "Settings")
  .annotate(OpenApi.Description, "The settings file: what it says, and changes of single settings.")
{}
