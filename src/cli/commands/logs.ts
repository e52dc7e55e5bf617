import { Effect, Option, Stream } from "effect"
import { Berth } from "../../client/Berth.ts"
import { BerthError } from "../../client/BerthError.ts"
import type { LogEvent } from "../../schema/Logs.ts"
import { followedBy, quoted } from "../../schema/quoted.ts"
import { answered, common, connected } from "../common.ts"
import { command } from "../parse/command.ts"
import { flag, integer, optionalArgument, text } from "../parse/described.ts"
import { onlyServer, placeOf, type PlaceOptions, placeOptions } from "../projects.ts"
import { storedServer } from "../storedServer.ts"
import { droppedWords } from "../terminal/quantities.ts"
import { safeLine } from "../terminal/safeText.ts"
import { Screen } from "../terminal/Screen.ts"
import { nthColor, styled } from "../terminal/style.ts"

/** Writes each line behind the name of its service, in a colour of its own. */
const makeLineView = Effect.map(Screen, ({ err, out, print, say }) => {
  const services = new Map<string, number>()
  const color = nthColor(out)
  const prefixOf = (service: string) => {
    const index = services.get(service) ?? services.size
    services.set(service, index)
    return `${color(index, safeLine(service, false))} | `
  }
  return (event: LogEvent) =>
    event.event === "dropped"
      ? say(styled(err)("yellow", droppedWords(event.data)))
      : print(
        prefixOf(event.data.service) +
          (out.isTerminal ? safeLine(event.data.text, out.hasColor) : event.data.text)
      )
})

/** Whose logs are meant: those of a project's stack, or those of a container where no project has the name. */
const sourceOf = (name: Option.Option<string>, place: PlaceOptions) =>
  placeOf(name, place).pipe(
    Effect.map(({ remotePath, serverId }) => ({ serverId, source: { remotePath }, also: "" })),
    Effect.catchTag("NoSuchProject", ({ name: containerName }) =>
      Effect.map(
        Option.match(place.server, { onNone: () => onlyServer(containerName), onSome: storedServer }),
        ({ server }) => ({
          serverId: server.id,
          source: { containerName },
          also: `No project is named ${quoted(containerName)} either`
        })
      ))
  )

const logsCommand = command(
  {
    name: "logs",
    summary: "Show the logs of a project's stack, or of a container.",
    details: "Both streams of all services. A name that no project has is taken for that of a container.",
    examples: [
      "berth logs",
      "berth logs hello -f",
      "berth logs hello --service web",
      "berth logs hello-web-1 --server main --since 1h"
    ]
  },
  {
    name: optionalArgument("name", "A project, by its name under the root or its path, or a container.", "project"),
    follow: flag("follow", "Go on with every further line, until Ctrl-C.", "f"),
    since: text("since", "No line from before it: a time, or how long ago, like 10m or 2h.", { value: "time" }),
    lines: integer("lines", "How many of the last lines; 100 unless given.", { value: "number", alias: "n" }),
    service: text("service", "One service of the stack; all of them unless given.", { value: "service" }),
    ...placeOptions,
    ...common
  },
  (input) =>
    connected(
      input,
      Effect.gen(function*() {
        const { followLogs } = yield* Berth
        const { out, print } = yield* Screen
        const { also, serverId, source } = yield* sourceOf(input.name, input)
        const since = Option.getOrUndefined(input.since)
        const lines = Option.getOrUndefined(input.lines)
        const service = Option.getOrUndefined(input.service)
        // A request that is wrong in itself says nothing about the name.
        const told = (error: BerthError) =>
          new BerthError({ ...error, message: error.status === 400 ? error.message : followedBy(error.message, also) })
        if (input.follow) {
          const view = yield* makeLineView
          return yield* Stream.runForEach(
            followLogs(serverId, { ...source, since, lines, service }),
            (event) => input.json ? print(JSON.stringify(event)) : view(event)
          ).pipe(Effect.catchTag("BerthError", told))
        }
        const query = {
          ...source,
          ...(since === undefined ? {} : { since }),
          ...(lines === undefined ? {} : { lines: String(lines) }),
          ...(service === undefined ? {} : { service })
        }
        return yield* answered(
          input,
          (api) => api.serverLogs({ path: { id: serverId }, urlParams: query }),
          ({ logs }) => {
            const text = logs.replace(/\n$/, "")
            if (text === "") return Effect.void
            return print(
              out.isTerminal ? text.split("\n").map((line) => safeLine(line, out.hasColor)).join("\n") : text
            )
          }
        ).pipe(Effect.catchTag("BerthError", told))
      })
    )
)

export const logsCommands = [logsCommand]
