import { Effect } from "effect"
import { Berth } from "../../client/Berth.ts"
import { quoted } from "../../schema/quoted.ts"
import type { RouteAbsent, RouteAdded, RouteKept, RouteRemoved } from "../../schema/Route.ts"
import type { RoutePlanRequest } from "../../schema/RoutePlan.ts"
import { answered, type Common, common, connected, yes } from "../common.ts"
import { confirmed } from "../confirm.ts"
import { exitCodes, Failed, Usage } from "../Failure.ts"
import { command, group } from "../parse/command.ts"
import { argument, flag } from "../parse/described.ts"
import { diffLines } from "../terminal/diffLines.ts"
import { safeText } from "../terminal/safeText.ts"
import { Screen, type Surface } from "../terminal/Screen.ts"
import { table } from "../terminal/table.ts"

const routeName = argument("name", "The name of the route in the proxy file.", "route")
const dryRun = flag("dry-run", "Show what would become of the proxy file, and change nothing.")

const listCommand = command(
  {
    name: "list",
    summary: "List the routes of the proxy file: where they lead, and which applications declare them.",
    examples: ["berth route list"]
  },
  common,
  (input) =>
    connected(
      input,
      Effect.flatMap(Screen, ({ out, print, say }) =>
        answered(input, (api) =>
          api.listRoutes({}), ({ file, routes, serverName, warnings }) =>
          Effect.gen(function*() {
            if (routes.length === 0) {
              yield* say(`${safeText(`${file} on ${serverName}`)} has no route.`)
            } else {
              yield* print(table(
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
            yield* Effect.forEach([...broken, ...warnings], (warning) =>
              say(`! ${safeText(warning)}`))
          })))
    )
)

/** What would become of the proxy file. */
const planOf = (payload: RoutePlanRequest) =>
  Effect.gen(function*() {
    const { answer } = yield* Berth
    const { body, value } = yield* answer((api) => api.planRoute({ payload }))
    const lines = (surface: Surface) => [
      `${safeText(`${value.file} on ${value.serverName}`)}:`,
      ...(value.changes ? diffLines(value.diff, surface).map((line) => `  ${line}`) : ["  Nothing would change."]),
      ...(value.warning === undefined ? [] : [`! ${safeText(value.warning)}`])
    ]
    return { body, changes: value.changes, lines }
  })

const showPlan = (payload: RoutePlanRequest, { json }: Pick<Common, "json">) =>
  Effect.gen(function*() {
    const { out, print } = yield* Screen
    const { body, lines } = yield* planOf(payload)
    return yield* print(json ? body : lines(out).join("\n"))
  })

type Outcome = typeof RouteAdded.Type | typeof RouteKept.Type | typeof RouteAbsent.Type | typeof RouteRemoved.Type

/** Says what became of a route, and what is to be known of it. */
const sayOutcome = (words: string, outcome: Outcome) =>
  Effect.gen(function*() {
    const { say } = yield* Screen
    yield* say(words)
    if ("warning" in outcome && outcome.warning !== undefined) yield* say(`! ${safeText(outcome.warning)}`)
  })

const addCommand = command(
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
    yes,
    ...common
  },
  (input) =>
    connected(
      input,
      Effect.gen(function*() {
        const { answer } = yield* Berth
        const { err, print, say } = yield* Screen
        if (input.name === "" || input.domain === "") {
          return yield* new Usage({ message: `The ${input.name === "" ? "name" : "domain"} must not be empty` })
        }
        if (!/^\d{1,5}$/.test(input.port)) {
          return yield* new Usage({
            message: `The port must be a whole number from 1 to 65535, not ${quoted(input.port)}`
          })
        }
        const route = { routeName: input.name, domain: input.domain, port: Number(input.port) }
        const change = { action: "add", ...route } as const
        if (input.dryRun) return yield* showPlan(change, input)
        const { changes, lines } = yield* planOf(change)
        const question = `Send requests for ${safeText(input.domain)} to port ${route.port}?`
        if (changes) {
          yield* say(lines(err).join("\n"))
          if (!(yield* confirmed(question, input.yes))) return exitCodes.failed
        }
        const { body, value } = yield* answer((api) => api.addRoute({ payload: route }))
        if ("error" in value) return yield* new Failed({ message: value.error })
        if (input.json) return yield* print(body)
        const name = safeText(input.name)
        return yield* sayOutcome(value.added ? `Added the route ${name}.` : "The same route is there already.", value)
      })
    )
)

const removeCommand = command(
  {
    name: "remove",
    summary: "Remove a route from the proxy file: what becomes of the file, question, removal.",
    examples: ["berth route remove hello"]
  },
  { name: routeName, dryRun, yes, ...common },
  (input) =>
    connected(
      input,
      Effect.gen(function*() {
        const { answer } = yield* Berth
        const { err, print, say } = yield* Screen
        const change = { action: "remove", routeName: input.name } as const
        if (input.dryRun) return yield* showPlan(change, input)
        const { changes, lines } = yield* planOf(change)
        if (changes) {
          yield* say(lines(err).join("\n"))
          if (!(yield* confirmed(`Remove the route ${safeText(input.name)}?`, input.yes))) return exitCodes.failed
        }
        const { body, value } = yield* answer((api) => api.removeRoute({ payload: { routeName: input.name } }))
        if ("error" in value) return yield* new Failed({ message: value.error })
        if (input.json) return yield* print(body)
        const name = safeText(input.name)
        return yield* sayOutcome(
          value.removed ? `Removed the route ${name}.` : `There is no route ${name}: nothing was changed.`,
          value
        )
      })
    )
)

const portCommand = command(
  {
    name: "port",
    summary: "Print a port that nothing uses yet.",
    examples: ["berth port", "berth port --evidence"]
  },
  {
    evidence: flag("evidence", "Show what takes each port, and count what listens on the proxy's server too."),
    ...common
  },
  (input) =>
    connected(
      input,
      Effect.gen(function*() {
        const { answer } = yield* Berth
        const { out, print, say } = yield* Screen
        const urlParams = input.evidence ? { evidence: "true" as const } : {}
        const { body, value } = yield* answer((api) => api.nextPort({ urlParams }))
        if (input.json) return yield* print(body)
        const rows = (value.evidence ?? []).map(({ port, usedBy }) => [
          String(port),
          usedBy.map(({ kind, what }) => `${kind} ${what}`).join(", ")
        ])
        if (rows.length > 0) yield* say(table(["PORT", "USED BY"], rows, out))
        yield* Effect.forEach(value.warnings ?? [], (warning) => say(`! ${safeText(warning)}`))
        yield* print(String(value.nextPort))
        return exitCodes.done
      })
    )
)

export const routesCommands = [
  group({ name: "route", summary: "The routes of the reverse proxy: list, add, remove." }, [
    listCommand,
    addCommand,
    removeCommand
  ]),
  portCommand
]
