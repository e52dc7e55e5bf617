import { Effect, Option } from "effect"
import type { PlatformPlan } from "../../../schema/applications/PlatformPlan.ts"
import { resolveProject } from "../../options/projects.ts"
import { optionalArgument, textOption } from "../../parse/parameters.ts"
import { escapeInline } from "../../terminal/safeText.ts"

/** Selects an application of a project; defaults to its first entry. */
export const declared = {
  project: optionalArgument("project", "Its name under the projects root, or its path.", "project"),
  app: textOption("app", "The name of an entry of platform.json; the first one unless given.", {
    value: "name",
    names: "application"
  })
}

/** Resolves the options to the fields of a request. */
export const resolveAppRequest = (
  input: { readonly project: Option.Option<string>; readonly app: Option.Option<string> }
) =>
  Effect.map(resolveProject(input.project), (projectPath) => ({
    projectPath,
    ...(Option.isSome(input.app) ? { appName: input.app.value } : {})
  }))

const titles = { create: "Create ", update: "Update ", none: "" }
/** Title of a plan: `Create hello`. */
export const formatPlanTitle = ({ action, appName }: PlatformPlan) => `${titles[action]}${escapeInline(appName)}`
