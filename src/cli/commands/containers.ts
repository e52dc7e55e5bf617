import { Effect, Option } from "effect"
import { Berth } from "../../client/Berth.ts"
import type { BerthError } from "../../client/BerthError.ts"
import { formatServerReference } from "../../schema/servers/findServer.ts"
import { defineServiceCommand } from "../options/defineServiceCommand.ts"
import { findStoredServer } from "../options/findStoredServer.ts"
import { flagOption, optionalArgument } from "../parse/parameters.ts"
import { exitCodes } from "../terminal/exitCodes.ts"
import { formatTable } from "../terminal/formatTable.ts"
import { escapeInline } from "../terminal/safeText.ts"
import { Screen } from "../terminal/Screen.ts"

/** Queries the servers concurrently and keeps each success or failure. */
const askEach = <A>(
  servers: ReadonlyArray<{ readonly server: { readonly id: string }; readonly callName: string }>,
  ask: (id: string) => Effect.Effect<A, BerthError, Berth>
) =>
  Effect.forEach(
    servers,
    ({ callName, server: { id } }) => Effect.map(Effect.either(ask(id)), (answer) => ({ id, callName, answer })),
    { concurrency: 8 }
  )

const psCommand = defineServiceCommand(
  {
    name: "ps",
    summary: "List the running containers of all servers, or of one; with --all the others too.",
    details:
      "With --json and without a server: what each server answers, by its id. Ends with 1 when a server cannot be " +
      "asked.",
    examples: ["berth ps", "berth ps main --all"]
  },
  {
    server: optionalArgument("server", "The id or the name of a stored server.", "server"),
    all: flagOption("all", "Containers that do not run too.", "a")
  },
  Effect.fnUntraced(function*(input) {
    const { answer, use } = yield* Berth
    const { out, print, say } = yield* Screen
    const ask = (id: string) =>
      answer((api) => api.listContainers({ path: { id }, urlParams: input.all ? { all: "true" } : {} }))
    const one = Option.isSome(input.server) ? yield* findStoredServer(input.server.value) : undefined
    if (one !== undefined && input.json) return yield* Effect.flatMap(ask(one.server.id), ({ body }) => print(body))
    const stored = yield* use((api) => api.listServers({}))
    const asked = one === undefined
      ? stored.map((server) => ({ server, callName: formatServerReference(stored, server) }))
      : [one]
    const answers = yield* askEach(asked, ask)
    if (input.json) {
      yield* print(
        `{${
          answers.map(({ answer, id }) =>
            `${JSON.stringify(id)}:${
              answer._tag === "Right" ? answer.right.body : JSON.stringify({ error: answer.left.message })
            }`
          ).join(",")
        }}`
      )
    } else {
      const rows = answers.flatMap(({ answer, callName }) =>
        answer._tag === "Left"
          ? []
          : answer.right.value.containers.map(({ name, ports, status }) => [callName, name, status, ports])
      )
      if (rows.length > 0) yield* print(formatTable(["SERVER", "CONTAINER", "STATUS", "PORTS"], rows, out))
      if (asked.length === 0) {
        yield* say("No server is stored yet: add one with berth server add.")
      } else if (rows.length === 0 && answers.some(({ answer }) => answer._tag === "Right")) {
        yield* say(input.all ? "There is no container." : "No container runs.")
      }
      for (const { answer, callName } of answers) {
        if (answer._tag === "Left") yield* say(`✗ ${escapeInline(`${callName}: ${answer.left.message}`)}`)
      }
    }
    return answers.every(({ answer }) => answer._tag === "Right") ? exitCodes.done : exitCodes.failed
  })
)

export const containersCommands = [psCommand]
