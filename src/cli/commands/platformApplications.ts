import { Effect, type Option, Predicate } from "effect"
import { Berth } from "../../client/Berth.ts"
import type { Removal } from "../../schema/Removal.ts"
import { answered, type Common, common, connected, yes } from "../common.ts"
import { confirmed } from "../confirm.ts"
import { exitCodes, Failed } from "../Failure.ts"
import { command } from "../parse/command.ts"
import { argument, flag, optionalArgument } from "../parse/described.ts"
import { projectNamed } from "../projects.ts"
import { listed } from "../terminal/listed.ts"
import { safeText } from "../terminal/safeText.ts"
import { Screen } from "../terminal/Screen.ts"

const name = argument("name", "The exact name of an application of the platform.", "application")

/** The uuid of the application of this name. */
const uuidOf = (appName: string) =>
  Effect.gen(function*() {
    const found = yield* (yield* Berth).use((api) => api.findApplication({ path: { name: appName } }))
    if (found !== null && Predicate.isString(found["uuid"])) return found["uuid"]
    return yield* new Failed({
      message: `The platform has no application named "${safeText(appName)}": berth app list names those that it has`
    })
  })

const cell = (value: unknown) => (Predicate.isString(value) ? value : "")

const listCommand = command(
  { name: "list", summary: "List the applications of the platform.", examples: ["berth app list"] },
  common,
  (input) =>
    connected(
      input,
      answered(input, (api) => api.listApplications({}), (apps) =>
        listed(
          "The platform has no application.",
          ["NAME", "STATUS", "PORT", "ADDRESS", "UUID"],
          apps.map((
            app
          ) => [cell(app.name), cell(app.status), app._host_port ?? "", cell(app.fqdn), cell(app.uuid)])
        ))
    )
)

const showCommand = command(
  {
    name: "show",
    summary: "Show an application of the platform, as the platform tells it.",
    examples: ["berth app show hello"]
  },
  { name, ...common },
  (input) =>
    connected(
      input,
      Effect.gen(function*() {
        const { print } = yield* Screen
        return yield* answered(input, (api) =>
          api.findApplication({ path: { name: input.name } }), (found) =>
          found === null
            ? new Failed({ message: `The platform has no application named "${safeText(input.name)}"` })
            : print(JSON.stringify(found, null, 2)))
      })
    )
)

/** Whether the service kept a variable's value from the caller. */
const isKept = (env: { readonly [field: string]: unknown }) => env["value"] === "***"

const envsCommand = command(
  {
    name: "envs",
    summary: "List an application's environment variables: their names.",
    examples: ["berth app envs hello"]
  },
  { name, values: flag("values", "Print the values too, secrets among them; a viewer gets *** for them."), ...common },
  (input) =>
    connected(
      input,
      Effect.gen(function*() {
        const { print, say } = yield* Screen
        const uuid = yield* uuidOf(input.name)
        return yield* answered(input, (api) => api.listEnvs({ path: { uuid } }), (envs) => {
          const all = Array.isArray(envs) ? envs.filter(Predicate.isRecord) : []
          const lines = all.map((env) => {
            const key = safeText(cell(env["key"]))
            return input.values ? `${key}=${safeText(cell(env["value"]))}` : key
          })
          return Effect.gen(function*() {
            if (lines.length > 0) yield* print(lines.join("\n"))
            if (input.values && all.some(isKept)) {
              yield* say("Values shown as *** are for operators: take an operator's token as BERTH_TOKEN.")
            }
          })
        })
      })
    )
)

const deployCommand = command(
  {
    name: "deploy",
    summary: "Ask the platform to build and start an application.",
    examples: ["berth app deploy hello"]
  },
  { name, yes, ...common },
  (input) =>
    connected(
      input,
      Effect.gen(function*() {
        const { say } = yield* Screen
        const uuid = yield* uuidOf(input.name)
        const shown = safeText(input.name)
        if (!(yield* confirmed(`Deploy ${shown} on the platform?`, input.yes))) return exitCodes.failed
        return yield* answered(
          input,
          (api) => api.deployApplication({ path: { uuid } }),
          () => say(`The platform deploys ${shown}.`)
        )
      })
    )
)

/** What goes with an application, and what stays, a line for each. */
const removalLines = ({ hooks, name, route, stays }: Removal): ReadonlyArray<string> => [
  `- application ${safeText(name)}, with all that the platform keeps of it`,
  ...(route === null ? [] : [`- route ${safeText(route.routeName)}: ${safeText(route.way)}`]),
  ...hooks.map(({ id, repository }) => `- webhook ${id} of ${safeText(repository)}`),
  ...stays.map((words) => `! stays: ${safeText(words)}`)
]

const deleteCommand = command(
  {
    name: "delete",
    summary: "Delete an application from the platform, with its route and its webhook.",
    details: "Ends with 2 when a part of it could not be removed.",
    examples: ["berth app delete hello", "berth app delete hello --dry-run", "berth app delete hello --keep-route"]
  },
  {
    name,
    dryRun: flag("dry-run", "Show what would go, and change nothing."),
    keepRoute: flag("keep-route", "Leave its route in the proxy file."),
    yes,
    ...common
  },
  (input) =>
    connected(
      input,
      Effect.gen(function*() {
        const { answer } = yield* Berth
        const { print, say } = yield* Screen
        const uuid = yield* uuidOf(input.name)
        const shown = safeText(input.name)
        const { body, value } = yield* answer((api) => api.planRemoval({ path: { uuid } }))
        const planned: Removal = input.keepRoute && value.route !== null
          ? { ...value, route: null, stays: [...value.stays, `the route ${value.route.routeName}: --keep-route`] }
          : value
        if (input.dryRun) {
          yield* print(input.json ? body : removalLines(planned).join("\n"))
          return exitCodes.done
        }
        yield* say([`Delete ${shown}:`, ...removalLines(planned)].join("\n"))
        const parts = [
          ...(planned.route === null ? [] : ["its route"]),
          ...(planned.hooks.length === 0 ? [] : ["its webhook"])
        ]
        const all = parts.length === 0 ? "all that it keeps of it" : ["all that it keeps of it", ...parts].join(", ")
        if (!(yield* confirmed(`Delete ${shown} from the platform, with ${all}?`, input.yes))) return exitCodes.failed
        const payload = { keepRoute: input.keepRoute }
        const done = yield* answer((api) => api.removeApplication({ path: { uuid }, payload }))
        if (input.json) yield* print(done.body)
        yield* Effect.forEach(done.value.stays, (words) => say(`! stays: ${safeText(words)}`))
        const gone = [
          ...(done.value.route === null ? [] : [`its route ${safeText(done.value.route.routeName)}`]),
          ...done.value.hooks.map(({ id }) => `its webhook ${id}`)
        ]
        yield* say(`Deleted ${shown} from the platform${gone.length === 0 ? "" : `, with ${gone.join(" and ")}`}.`)
        return done.value.success ? exitCodes.done : exitCodes.differs
      })
    )
)

const adoptCommand = command(
  {
    name: "adopt",
    summary: "Declare an application of the platform in a project's platform.json.",
    examples: ["berth app adopt hello", "berth app adopt hello ./hello --replace"]
  },
  {
    name,
    project: optionalArgument("project", "Its name under the projects root, or its path.", "project"),
    replace: flag("replace", "Replace the entry of its name, when there is one."),
    ...common
  },
  (input: Common & { readonly name: string; readonly project: Option.Option<string>; readonly replace: boolean }) =>
    connected(
      input,
      Effect.gen(function*() {
        const { say } = yield* Screen
        const projectPath = yield* projectNamed(input.project)
        const uuid = yield* uuidOf(input.name)
        const payload = { uuid, projectPath, replace: input.replace }
        return yield* answered(
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
)

const serversCommand = command(
  { name: "servers", summary: "List the servers that the platform deploys to.", examples: ["berth app servers"] },
  common,
  (input) =>
    connected(
      input,
      answered(input, (api) => api.listPlatformServers({}), (answer) => {
        const servers = Array.isArray(answer) ? answer.filter(Predicate.isRecord) : []
        const rows = servers.map((server) => [cell(server["name"]), cell(server["ip"]), cell(server["uuid"])])
        return listed("The platform has no server.", ["NAME", "ADDRESS", "UUID"], rows)
      })
    )
)

/** An application as the platform has it. */
export const platformApplicationCommands = [
  listCommand,
  showCommand,
  envsCommand,
  adoptCommand,
  serversCommand,
  deployCommand,
  deleteCommand
]
