import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { NotifyTested } from "../../schema/notify.ts"
import { SettingsChange, SettingsChanged, SettingsChangeQuery, SettingsList } from "../../schema/settingsList.ts"
import { TokenAdded, TokenList, TokenRemoved, TokenRequest } from "../../schema/tokens.ts"
import * as failures from "./annotations.ts"
import { annotateFailures, forOperators, forViewers } from "./annotations.ts"

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

const ofOwnUser = [403, "Only the user of the service's machine may change tokens."] as const

/** Tokens that let callers in. */
export class TokensApi extends HttpApiGroup.make("tokens", { topLevel: true })
  .add(
    HttpApiEndpoint.get("listTokens", "/api/tokens").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.settings))
      .addSuccess(TokenList)
      .annotate(OpenApi.Summary, "List tokens")
      .annotate(OpenApi.Description, "The names and roles of the tokens that let callers in, without their values.")
  )
  .add(
    HttpApiEndpoint.post("addToken", "/api/tokens").annotateContext(forOperators)
      .annotateContext(
        annotateFailures(failures.body, failures.settings, ofOwnUser, [409, "Another token has this name."])
      )
      .setPayload(TokenRequest)
      .addSuccess(TokenAdded)
      .annotate(OpenApi.Summary, "Add a token")
      .annotate(
        OpenApi.Description,
        "Makes a token and adds it to http.tokens in the settings file. Its value is in this answer alone. With the " +
          "first token every caller needs one: a page that adds it is logged in with it."
      )
  )
  .add(
    HttpApiEndpoint.del("removeToken", "/api/tokens/:name").annotateContext(forOperators)
      .annotateContext(
        annotateFailures(failures.noBody, failures.settings, ofOwnUser, [404, "http.tokens names no such token."])
      )
      .setPath(Schema.Struct({ name: Schema.String.annotations({ description: "The name of the token." }) }))
      .addSuccess(TokenRemoved)
      .annotate(OpenApi.Summary, "Remove a token")
      .annotate(
        OpenApi.Description,
        "Takes a token out of http.tokens. Its callers are refused from then on, and its sessions end."
      )
  )
  .annotate(OpenApi.Title, "Tokens")
  .annotate(OpenApi.Description, "Tokens that let callers in.")
{}

/** Notifications. */
export class NotifyApi extends HttpApiGroup.make("notify", { topLevel: true })
  .add(
    HttpApiEndpoint.post("testNotify", "/api/notify/:name/test").annotateContext(forOperators)
      .annotateContext(
        annotateFailures(failures.noBody, failures.settings, [404, "notify has no target with this name."], [
          502,
          "The receiver cannot be reached, does not answer in time, or refuses the message."
        ])
      )
      .setPath(Schema.Struct({ name: Schema.String.annotations({ description: "The name of a target." }) }))
      .addSuccess(NotifyTested)
      .annotate(OpenApi.Summary, "Test a notification")
      .annotate(
        OpenApi.Description,
        "Tells one target of the setting notify at once, in one attempt, that this is a test."
      )
  )
  .annotate(OpenApi.Title, "Notifications")
  .annotate(OpenApi.Description, "Messages to chats and endpoints about the end of runs and about drift.")
{}
