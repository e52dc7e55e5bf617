import { Effect } from "effect"
import { Berth } from "../../client/Berth.ts"
import { common, connected, yes } from "../common.ts"
import { confirmed } from "../confirm.ts"
import { exitCodes, Failed, Usage } from "../Failure.ts"
import { command, group } from "../parse/command.ts"
import { argument, flag } from "../parse/described.ts"
import { safeText } from "../terminal/safeText.ts"
import { Screen } from "../terminal/Screen.ts"
import { table } from "../terminal/table.ts"

const routeName = argument("name", "The name of the route in the proxy file.")

const addCommand = command(
  {
    name: "add",
    summary: "Send requests for a domain to a port of the target address.",
    examples: ["berth route add hello hello.example.com 2004"]
  },
  {
    name: routeName,
    domain: argument("domain", "A host name like app.example.com."),
    port: argument("port", "The port of the target address; berth port names a free one."),
    ...common
  },
  (input) =>
    connected(
      input,
      Effect.gen(function*() {
        const { answer } = yield* Berth
        const { print, say } = yield* Screen
        if (!/^\d{1,5}$/.test(input.port)) return yield* new Usage({ message: "The port must be a whole number" })
        const payload = { routeName: input.name, domain: input.domain, port: Number(input.port) }
        const { body, value } = yield* answer((api) => api.addRoute({ payload }))
        if ("error" in value) return yield* new Failed({ message: value.error })
        if (input.json) return yield* print(body)
        yield* say(value.added ? `Added the route ${safeText(input.name)}.` : "The same route is there already.")
        if (value.added && value.warning !== undefined) yield* say(`! ${safeText(value.warning)}`)
        return exitCodes.done
      })
    )
)

const removeCommand = command(
  { name: "remove", summary: "Remove a route from the proxy file.", examples: ["berth route remove hello"] },
  { name: routeName, yes, ...common },
  (input) =>
    connected(
      input,
      Effect.gen(function*() {
        const { answer } = yield* Berth
        const { print, say } = yield* Screen
        if (!(yield* confirmed(`Remove the route ${safeText(input.name)}?`, input.yes))) return exitCodes.failed
        const { body, value } = yield* answer((api) => api.removeRoute({ payload: { routeName: input.name } }))
        if ("error" in value) return yield* new Failed({ message: value.error })
        if (input.json) return yield* print(body)
        yield* say(
          value.removed
            ? `Removed the route ${safeText(input.name)}.`
            : `There is no route ${safeText(input.name)}: nothing was changed.`
        )
        if (value.removed && value.warning !== undefined) yield* say(`! ${safeText(value.warning)}`)
        return exitCodes.done
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
  group({ name: "route", summary: "The routes of the reverse proxy: add, remove." }, [addCommand, removeCommand]),
  portCommand
]
