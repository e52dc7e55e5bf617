import { Effect } from "effect"
import { Berth } from "../../client/Berth.ts"
import type { RouteAbsent, RouteAdded, RouteKept, RoutePlanRequest, RouteRemoved } from "../../schema/routes.ts"
import { quoteInput } from "../../schema/words.ts"
import { type CommonInput, defineServiceCommand, showAnswer, yes } from "../options.ts"
import {
  confirm,
  escapeInline,
  exitCodes,
  Failed,
  formatDiff,
  formatTable,
  Screen,
  type Surface,
  Usage
} from "../output.ts"
import { argument, defineCommandGroup, flagOption } from "../parse.ts"

const portCommand = defineServiceCommand(
  {
    name: "port",
    summary: "Print a port that nothing uses yet.",
    examples: ["berth port", "berth port --evidence"]
  },
  { evidence: flagOption("evidence", "Show what takes each port, and count what listens on the proxy's server too.") },
  Effect.fnUntraced(function*(input) {
    const { answer } = yield* Berth
    const { out, print, say } = yield* Screen
    const urlParams = input.evidence ? { evidence: "true" as const } : {}
    const { body, value } = yield* answer((api) => api.nextPort({ urlParams }))
    if (input.json) return yield* print(body)
    const rows = (value.evidence ?? []).map(({ port, usedBy }) => [
      String(port),
      usedBy.map(({ kind, what }) => `${kind} ${what}`).join(", ")
    ])
    if (rows.length > 0) yield* say(formatTable(["PORT", "USED BY"], rows, out))
    yield* Effect.forEach(value.warnings ?? [], (warning) => say(`! ${escapeInline(warning)}`))
    yield* print(String(value.nextPort))
    return exitCodes.done
  })
)

const routeName = argument("name", "The name of the route in the proxy file.", "route")
const dryRun = flagOption("dry-run", "Show what would become of the proxy file, and change nothing.")

const listCommand = defineServiceCommand(
  {
    name: "list",
    summary: "List the routes of the proxy file: where they lead, and which applications declare them.",
    examples: ["berth route list"]
  },
  {},
  (input) =>
    Effect.flatMap(
      Screen,
      ({ out, print, say }) =>
        showAnswer(input, (api) =>
          api.listRoutes({}), ({ file, routes, serverName, warnings }) =>
          Effect.gen(function*() {
            if (routes.length === 0) {
              yield* say(`${escapeInline(`${file} on ${serverName}`)} has no route.`)
            } else {
              yield* print(formatTable(
                ["ROUTE", "DOMAINS", "TARGETS", "APPLICATION", "MADE BY"],
                routes.map(({ applications, domains, madeBy, routeName, rule, targets }) => [
                  routeName,
                  domains.length === 0 ? rule : domains.join(", "),
                  targets.join(", "),
                  applications.map(({ appName }) =>
                    appName
                  ).join(", "),
                  madeBy === "berth" ? "berth" : "others"
                ]),
                out
              ))
            }
            const broken = routes.flatMap(({ missingMiddlewares, routeName }) =>
              missingMiddlewares.map((middleware) =>
                `${routeName} uses the middleware ${middleware}, which is not there`
              )
            )
            yield* Effect.forEach([...broken, ...warnings], (warning) => say(`! ${escapeInline(warning)}`))
          }))
    )
)

/** Plans a change of the proxy file. */
const planOf = (payload: RoutePlanRequest) =>
  Effect.gen(function*() {
    const { answer } = yield* Berth
    const { body, value } = yield* answer((api) => api.planRoute({ payload }))
    const lines = (surface: Surface) => [
      `${escapeInline(`${value.file} on ${value.serverName}`)}:`,
      ...(value.changes ? formatDiff(value.diff, surface).map((line) => `  ${line}`) : ["  Nothing would change."]),
      ...(value.warning === undefined ? [] : [`! ${escapeInline(value.warning)}`])
    ]
    return { body, changes: value.changes, lines }
  })

/** Shows the planned proxy file and asks to confirm it; yields an exit code if the command ends there. */
const confirmChange = (
  payload: RoutePlanRequest,
  question: string,
  { dryRun, json, yes }: Pick<CommonInput, "json"> & { readonly dryRun: boolean; readonly yes: boolean }
) =>
  Effect.gen(function*() {
    const { err, out, print, say } = yield* Screen
    const { body, changes, lines } = yield* planOf(payload)
    if (dryRun) {
      yield* print(json ? body : lines(out).join("\n"))
      return exitCodes.done
    }
    if (!changes) return undefined
    yield* say(lines(err).join("\n"))
    return (yield* confirm(question, yes)) ? undefined : exitCodes.failed
  })

type Outcome = typeof RouteAdded.Type | typeof RouteKept.Type | typeof RouteAbsent.Type | typeof RouteRemoved.Type

const printOutcome = (words: string, outcome: Outcome) =>
  Effect.gen(function*() {
    const { say } = yield* Screen
    yield* say(words)
    if ("warning" in outcome && outcome.warning !== undefined) yield* say(`! ${escapeInline(outcome.warning)}`)
  })

const addCommand = defineServiceCommand(
  {
    name: "add",
    summary:
      "Send requests for a domain to a port of the target address: what becomes of the proxy file, question, change.",
    examples: ["berth route add hello hello.example.com 2004", "berth route add hello hello.example.com 2004 --dry-run"]
  },
  {
    name: routeName,
    domain: argument("domain", "A host name like app.example.com."),
    port: argument("port", "The port of the target address; berth port names a free one."),
    dryRun,
    yes
  },
  Effect.fnUntraced(function*(input) {
    const { answer } = yield* Berth
    const { print } = yield* Screen
    if (input.name === "" || input.domain === "") {
      return yield* new Usage({ message: `The ${input.name === "" ? "name" : "domain"} must not be empty` })
    }
    if (!/^\d{1,5}$/.test(input.port)) {
      return yield* new Usage({
        message: `The port must be a whole number from 1 to 65535, not ${quoteInput(input.port)}`
      })
    }
    const route = { routeName: input.name, domain: input.domain, port: Number(input.port) }
    const question = `Send requests for ${escapeInline(input.domain)} to port ${route.port}?`
    const end = yield* confirmChange({ action: "add", ...route }, question, input)
    if (end !== undefined) return end
    const { body, value } = yield* answer((api) => api.addRoute({ payload: route }))
    if ("error" in value) return yield* new Failed({ message: value.error })
    if (input.json) return yield* print(body)
    const name = escapeInline(input.name)
    return yield* printOutcome(value.added ? `Added the route ${name}.` : "The same route is there already.", value)
  })
)

const removeCommand = defineServiceCommand(
  {
    name: "remove",
    summary: "Remove a route from the proxy file: what becomes of the file, question, removal.",
    examples: ["berth route remove hello"]
  },
  { name: routeName, dryRun, yes },
  Effect.fnUntraced(function*(input) {
    const { answer } = yield* Berth
    const { print } = yield* Screen
    const question = `Remove the route ${escapeInline(input.name)}?`
    const end = yield* confirmChange({ action: "remove", routeName: input.name }, question, input)
    if (end !== undefined) return end
    const { body, value } = yield* answer((api) => api.removeRoute({ payload: { routeName: input.name } }))
    if ("error" in value) return yield* new Failed({ message: value.error })
    if (input.json) return yield* print(body)
    const name = escapeInline(input.name)
    return yield* printOutcome(
      value.removed ? `Removed the route ${name}.` : `There is no route ${name}: nothing was changed.`,
      value
    )
  })
)

export const routesCommands = [
  defineCommandGroup({ name: "route", summary: "The routes of the reverse proxy: list, add, remove." }, [
    listCommand,
    addCommand,
    removeCommand
  ]),
  portCommand
]
