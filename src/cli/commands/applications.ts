import { Effect, Predicate } from "effect"
import { showAnswer } from "../connection/withService.ts"
import { yes } from "../options/common.ts"
import { applicationName, uuidOf } from "../options/platformApplication.ts"
import { resolveProject } from "../options/projects.ts"
import { serviceCommand } from "../options/serviceCommand.ts"
import { group } from "../parse/command.ts"
import { flag, optionalArgument } from "../parse/parameters.ts"
import { Failed } from "../terminal/commandErrors.ts"
import { confirm } from "../terminal/confirm.ts"
import { exitCodes } from "../terminal/exitCodes.ts"
import { printTable } from "../terminal/printTable.ts"
import { safeText } from "../terminal/safeText.ts"
import { Screen } from "../terminal/Screen.ts"
import { changelogCommand } from "./declared/changelog.ts"
import { driftCommand } from "./declared/drift.ts"
import { planCommand } from "./declared/plan.ts"
import { upCommand } from "./declared/up.ts"
import { verifyCommand } from "./declared/verify.ts"
import { deleteApplicationCommand } from "./deleteApplication.ts"

const cell = (value: unknown) => (Predicate.isString(value) ? value : "")

const listCommand = serviceCommand(
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

const showCommand = serviceCommand(
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
          ? new Failed({ message: `The platform has no application named "${safeText(input.name)}"` })
          : print(JSON.stringify(found, null, 2))
    )
  })
)

/** The service masks values for viewers. */
const isMasked = (env: { readonly [field: string]: unknown }) => env["value"] === "***"

const envsCommand = serviceCommand(
  {
    name: "envs",
    summary: "List an application's environment variables: their names.",
    examples: ["berth app envs hello"]
  },
  {
    name: applicationName,
    values: flag("values", "Print the values too, secrets among them; a viewer gets *** for them.")
  },
  Effect.fnUntraced(function*(input) {
    const { print, say } = yield* Screen
    const uuid = yield* uuidOf(input.name)
    return yield* showAnswer(input, (api) => api.listEnvs({ path: { uuid } }), (envs) => {
      const all = Array.isArray(envs) ? envs.filter(Predicate.isRecord) : []
      const lines = all.map((env) => {
        const key = safeText(cell(env["key"]))
        return input.values ? `${key}=${safeText(cell(env["value"]))}` : key
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

const deployCommand = serviceCommand(
  {
    name: "deploy",
    summary: "Ask the platform to build and start an application.",
    examples: ["berth app deploy hello"]
  },
  { name: applicationName, yes },
  Effect.fnUntraced(function*(input) {
    const { say } = yield* Screen
    const uuid = yield* uuidOf(input.name)
    const shown = safeText(input.name)
    if (!(yield* confirm(`Deploy ${shown} on the platform?`, input.yes))) return exitCodes.failed
    return yield* showAnswer(
      input,
      (api) => api.deployApplication({ path: { uuid } }),
      () => say(`The platform deploys ${shown}.`)
    )
  })
)

const adoptCommand = serviceCommand(
  {
    name: "adopt",
    summary: "Declare an application of the platform in a project's platform.json.",
    examples: ["berth app adopt hello", "berth app adopt hello ./hello --replace"]
  },
  {
    name: applicationName,
    project: optionalArgument("project", "Its name under the projects root, or its path.", "project"),
    replace: flag("replace", "Replace the entry of its name, when there is one.")
  },
  Effect.fnUntraced(function*(input) {
    const { say } = yield* Screen
    const projectPath = yield* resolveProject(input.project)
    const uuid = yield* uuidOf(input.name)
    const payload = { uuid, projectPath, replace: input.replace }
    return yield* showAnswer(
      input,
      (api) => api.adopt({ payload }),
      ({ action, unknown, warnings }) =>
        Effect.gen(function*() {
          yield* say(`The entry ${safeText(input.name)} was ${action} in ${safeText(projectPath)}/platform.json.`)
          yield* Effect.forEach(unknown, ({ label, reason }) => say(`? ${safeText(`${label}: ${reason}`)}`))
          yield* Effect.forEach(warnings, (warning) => say(`! ${safeText(warning)}`))
        })
    )
  })
)

const serversCommand = serviceCommand(
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
  group({
    name: "app",
    summary: "The applications of the platform, and as projects declare them.",
    examples: ["berth app plan", "berth app up hello"]
  }, [planCommand, upCommand, driftCommand, verifyCommand, changelogCommand, ...platformApplicationCommands])
]
