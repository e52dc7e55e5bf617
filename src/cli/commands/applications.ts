import { Effect, Option, Predicate } from "effect"
import { Berth } from "../../client/Berth.ts"
import type { Removal } from "../../schema/applications.ts"
import { mask } from "../../schema/words.ts"
import {
  applicationName,
  defineServiceCommand,
  findUuid,
  makeApplicationNotFound,
  requireUuid,
  showAnswer,
  yes
} from "../options.ts"
import { confirm, escapeInline, exitCodes, printTable, Screen } from "../output.ts"
import { defineCommandGroup, flagOption, optionalArgument } from "../parse.ts"
import { resolveDirectory } from "../stackLocation.ts"
import { changelogCommand, driftCommand, planCommand, upCommand, verifyCommand } from "./declared.ts"

/** Lists the parts that are removed with an application, and those that stay. */
const removalLines = ({ hooks, live, name, route, stays }: Removal): ReadonlyArray<string> => [
  live
    ? `- application ${escapeInline(name)}, with all that the platform keeps of it`
    : `= application ${escapeInline(name)}: the platform no longer has it`,
  ...(route === null ? [] : [`- route ${escapeInline(route.routeName)}: ${escapeInline(route.way)}`]),
  ...hooks.map(({ id, repository }) => `- webhook ${id} of ${escapeInline(repository)}`),
  ...stays.map((words) => `! stays: ${escapeInline(words)}`)
]

const deleteApplicationCommand = defineServiceCommand(
  {
    name: "delete",
    summary: "Delete an application from the platform, with its route and its webhook.",
    details: "Ends with 2 when a part of it could not be removed.",
    examples: ["berth app delete hello", "berth app delete hello --dry-run", "berth app delete hello --keep-route"]
  },
  {
    name: applicationName,
    dryRun: flagOption("dry-run", "Show what would go, and change nothing."),
    keepRoute: flagOption("keep-route", "Leave its route in the proxy file."),
    yes
  },
  Effect.fnUntraced(function*(input) {
    const { answer } = yield* Berth
    const { print, say } = yield* Screen
    // Falls back to the name for an application that the platform no longer has, to remove its route and hooks.
    const given = Option.getOrElse(yield* findUuid(input.name), () => input.name)
    const { body, value } = yield* answer((api) => api.planRemoval({ path: { uuid: given } })).pipe(
      Effect.catchIf(({ status }) => status === 404, () => makeApplicationNotFound(input.name))
    )
    const { uuid } = value
    const shown = escapeInline(value.name)
    const planned: Removal = input.keepRoute && value.route !== null
      ? { ...value, route: null, stays: [...value.stays, `the route ${value.route.routeName}: --keep-route`] }
      : value
    if (input.dryRun) {
      yield* print(input.json ? body : removalLines(planned).join("\n"))
      return exitCodes.done
    }
    const parts = [
      ...(planned.route === null ? [] : ["its route"]),
      ...(planned.hooks.length === 0 ? [] : ["its webhook"])
    ]
    if (!value.live && parts.length === 0) {
      yield* say([
        ...planned.stays.map((words) => `! stays: ${escapeInline(words)}`),
        `The platform no longer has ${shown}, and nothing else of it is left to remove.`
      ].join("\n"))
      return planned.stays.length === 0 ? exitCodes.done : exitCodes.differs
    }
    yield* say([`Delete ${shown}:`, ...removalLines(planned)].join("\n"))
    const all = parts.length === 0 ? "all that it keeps of it" : ["all that it keeps of it", ...parts].join(", ")
    const question = value.live
      ? `Delete ${shown} from the platform, with ${all}?`
      : `Remove ${parts.join(" and ")}, which ${shown} has left?`
    if (!(yield* confirm(question, input.yes))) return exitCodes.failed
    const payload = { keepRoute: input.keepRoute, planHash: value.planHash }
    const done = yield* answer((api) => api.removeApplication({ path: { uuid }, payload }))
    if (input.json) yield* print(done.body)
    yield* Effect.forEach(done.value.stays, (words) => say(`! stays: ${escapeInline(words)}`))
    const gone = [
      ...(done.value.route === null ? [] : [`its route ${escapeInline(done.value.route.routeName)}`]),
      ...done.value.hooks.map(({ id }) => `its webhook ${id}`)
    ]
    const went = gone.join(" and ")
    yield* say(
      value.live
        ? `Deleted ${shown} from the platform${went === "" ? "" : `, with ${went}`}.`
        : `Removed ${went === "" ? "nothing" : went} of ${shown}, which the platform no longer has.`
    )
    return done.value.success ? exitCodes.done : exitCodes.differs
  })
)

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
          ? makeApplicationNotFound(input.name)
          : print(JSON.stringify(found, null, 2))
    )
  })
)

/** The service masks values for viewers. */
const isMasked = (env: { readonly [field: string]: unknown }) => env["value"] === mask

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
    const projectPath = yield* resolveDirectory(input.project)
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
