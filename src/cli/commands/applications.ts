import { Effect, Predicate } from "effect"
import { showAnswer } from "../connection/withService.ts"
import { yes } from "../options/common.ts"
import { defineServiceCommand } from "../options/defineServiceCommand.ts"
import { applicationName, requireUuid } from "../options/platformApplication.ts"
import { resolveProject } from "../options/projects.ts"
import { defineCommandGroup } from "../parse/command.ts"
import { flagOption, optionalArgument } from "../parse/parameters.ts"
import { Failed } from "../terminal/commandErrors.ts"
import { confirm } from "../terminal/confirm.ts"
import { exitCodes } from "../terminal/exitCodes.ts"
import { printTable } from "../terminal/printTable.ts"
import { escapeInline } from "../terminal/safeText.ts"
import { Screen } from "../terminal/Screen.ts"
import { changelogCommand } from "./declared/changelog.ts"
import { driftCommand } from "./declared/drift.ts"
import { planCommand } from "./declared/plan.ts"
import { upCommand } from "./declared/up.ts"
import { verifyCommand } from "./declared/verify.ts"
import { deleteApplicationCommand } from "./deleteApplication.ts"

const cell = (value: unknown) => (Predicate.isString(value) ? value : "")

const listCommand = defineServiceCommand(
  { name: "list", summary: "List the applications of the platform.", examples: ["berth app list"] },
  {},
  (input) =>
    showAnswer(input, (api) => api.listApplications({}), (apps) =>
      printTable(
        "The platform has no application.",
        ["NAME", "STATUS", "PORT", "ADDRESS", "UUID"],
        apps.map((app) => [cell(app.name), cell(app.status), app._host_port ?? "", cell(app.fqdn), cell(app.uuid)])
      ))
)

const showCommand = defineServiceCommand(
  {
    name: "show",
    summary: "Show an application of the platform, as the platform tells it.",
    examples: ["berth app show hello"]
  },
  { name: applicationName },
  Effect.fnUntraced(function*(input) {
    const { print } = yield* Screen
    return yield* showAnswer(
      input,
      (api) => api.findApplication({ path: { name: input.name } }),
      (found) =>
        found === null
          ? new Failed({ message: `The platform has no application named "${escapeInline(input.name)}"` })
          : print(JSON.stringify(found, null, 2))
    )
  })
)

/** The service masks values for viewers. */
const isMasked = (env: { readonly [field: string]: unknown }) => env["value"] === "***"

const envsCommand = defineServiceCommand(
  {
    name: "envs",
    summary: "List an application's environment variables: their names.",
    examples: ["berth app envs hello"]
  },
  {
    name: applicationName,
    values: flagOption("values", "Print the values too, secrets among them; a viewer gets *** for them.")
  },
  Effect.fnUntraced(function*(input) {
    const { print, say } = yield* Screen
    const uuid = yield* requireUuid(input.name)
    return yield* showAnswer(input, (api) => api.listEnvs({ path: { uuid } }), (envs) => {
      const all = Array.isArray(envs) ? envs.filter(Predicate.isRecord) : []
      const lines = all.map((env) => {
        const key = escapeInline(cell(env["key"]))
        return input.values ? `${key}=${escapeInline(cell(env["value"]))}` : key
      })
      return Effect.gen(function*() {
        if (lines.length > 0) yield* print(lines.join("\n"))
        if (input.values && all.some(isMasked)) {
          yield* say("Values shown as *** are for operators: take an operator's token as BERTH_TOKEN.")
        }
      })
    })
  })
)

const deployCommand = defineServiceCommand(
  {
    name: "deploy",
    summary: "Ask the platform to build and start an application.",
    examples: ["berth app deploy hello"]
  },
  { name: applicationName, yes },
  Effect.fnUntraced(function*(input) {
    const { say } = yield* Screen
    const uuid = yield* requireUuid(input.name)
    const shown = escapeInline(input.name)
    if (!(yield* confirm(`Deploy ${shown} on the platform?`, input.yes))) return exitCodes.failed
    return yield* showAnswer(
      input,
      (api) => api.deployApplication({ path: { uuid } }),
      () => say(`The platform deploys ${shown}.`)
    )
  })
)

const adoptCommand = defineServiceCommand(
  {
    name: "adopt",
    summary: "Declare an application of the platform in a project's platform.json.",
    examples: ["berth app adopt hello", "berth app adopt hello ./hello --replace"]
  },
  {
    name: applicationName,
    project: optionalArgument("project", "Its name under the projects root, or its path.", "project"),
    replace: flagOption("replace", "Replace the entry of its name, when there is one.")
  },
  Effect.fnUntraced(function*(input) {
    const { say } = yield* Screen
    const projectPath = yield* resolveProject(input.project)
    const uuid = yield* requireUuid(input.name)
    const payload = { uuid, projectPath, replace: input.replace }
    return yield* showAnswer(
      input,
      (api) => api.adopt({ payload }),
      ({ action, unknown, warnings }) =>
        Effect.gen(function*() {
          yield* say(
            `The entry ${escapeInline(input.name)} was ${action} in ${escapeInline(projectPath)}/platform.json.`
          )
          yield* Effect.forEach(unknown, ({ label, reason }) => say(`? ${escapeInline(`${label}: ${reason}`)}`))
          yield* Effect.forEach(warnings, (warning) => say(`! ${escapeInline(warning)}`))
        })
    )
  })
)

const serversCommand = defineServiceCommand(
  { name: "servers", summary: "List the servers that the platform deploys to.", examples: ["berth app servers"] },
  {},
  (input) =>
    showAnswer(input, (api) => api.listPlatformServers({}), (answer) => {
      const servers = Array.isArray(answer) ? answer.filter(Predicate.isRecord) : []
      const rows = servers.map((server) => [cell(server["name"]), cell(server["ip"]), cell(server["uuid"])])
      return printTable("The platform has no server.", ["NAME", "ADDRESS", "UUID"], rows)
    })
)

/** Commands for applications that the platform has, declared or not. */
const platformApplicationCommands = [
  listCommand,
  showCommand,
  envsCommand,
  adoptCommand,
  serversCommand,
  deployCommand,
  deleteApplicationCommand
]

export const applicationsCommands = [
  defineCommandGroup({
    name: "app",
    summary: "The applications of the platform, and as projects declare them.",
    examples: ["berth app plan", "berth app up hello"]
  }, [planCommand, upCommand, driftCommand, verifyCommand, changelogCommand, ...platformApplicationCommands])
]
