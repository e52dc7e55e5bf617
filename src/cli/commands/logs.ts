import { Effect, Option, Stream } from "effect"
import { Berth } from "../../client/Berth.ts"
import { BerthError } from "../../client/BerthError.ts"
import type { LogEvent } from "../../schema/logs.ts"
import { appendSentence, quoteInput } from "../../schema/words.ts"
import { defineServiceCommand, findStoredServer, showAnswer } from "../options.ts"
import {
  colorByIndex,
  describeDropped,
  escapeInline,
  escapeLogLine,
  exitCodes,
  makeStyler,
  Screen,
  Usage
} from "../output.ts"
import { flagOption, integerOption, repeatedArgument, textOption } from "../parse.ts"
import {
  findOnlyServer,
  isProjectHere,
  locateNamedStack,
  type LocationOptions,
  locationOptions,
  resolveWord
} from "../stackLocation.ts"

/** Prints each line after the name of its service, in one colour per service. */
const makeLineView = (raw: boolean) =>
  Effect.map(Screen, ({ err, out, print, say }) => {
    const services = new Map<string, number>()
    const color = colorByIndex(out)
    const prefixOf = (service: string) => {
      const index = services.get(service) ?? services.size
      services.set(service, index)
      return `${color(index, escapeLogLine(service, false))} | `
    }
    return (event: LogEvent) => {
      switch (event.event) {
        case "dropped":
          return say(makeStyler(err)("yellow", describeDropped(event.data)))
        case "unavailable":
          return say(`✗ ${escapeInline(`${event.data.project}: ${event.data.error}`)}`)
        case "end":
          return Effect.void
        case "line": {
          const { project, service, text } = event.data
          return print(
            prefixOf(project === undefined ? service : `${project}/${service}`) +
              (raw ? text : escapeLogLine(text, out.hasColor))
          )
        }
      }
    }
  })

/** Request fields of the options that select lines. */
const selection = (
  { contains, lines, service, since, until }: {
    readonly contains: Option.Option<string>
    readonly lines: Option.Option<number>
    readonly service: Option.Option<string>
    readonly since: Option.Option<string>
    readonly until: Option.Option<string>
  }
) => ({
  ...Option.match(since, { onNone: () => ({}), onSome: (since) => ({ since }) }),
  ...Option.match(until, { onNone: () => ({}), onSome: (until) => ({ until }) }),
  ...Option.match(service, { onNone: () => ({}), onSome: (service) => ({ service }) }),
  ...Option.match(contains, { onNone: () => ({}), onSome: (contains) => ({ contains }) }),
  ...Option.match(lines, { onNone: () => ({}), onSome: (lines) => ({ lines }) })
})

/** Prints the logs of several projects, up to now unless they are followed. */
const showProjects = (
  projects: ReadonlyArray<string>,
  input: Parameters<typeof selection>[0] & LocationOptions & {
    readonly follow: boolean
    readonly json: boolean
    readonly raw: boolean
  }
) =>
  Effect.gen(function*() {
    if (Option.isSome(input.server) || Option.isSome(input.path) || Option.isSome(input.env)) {
      return yield* new Usage({
        message: "--server, --path and --env are for one project: each container.json names its own"
      })
    }
    const { followProjectLogs } = yield* Berth
    const { print } = yield* Screen
    const view = yield* makeLineView(input.raw)
    const events = followProjectLogs({ ...input.follow ? {} : { until: "0s" }, ...selection(input), projects })
    const unavailable = yield* Stream.runFoldEffect(
      events,
      0,
      (count, event) =>
        Effect.as(
          input.json ? print(JSON.stringify(event)) : view(event),
          event.event === "unavailable" ? count + 1 : count
        )
    )
    return unavailable === 0 ? exitCodes.done : exitCodes.failed
  })

/** Lines of one stack or container. */
interface Source {
  readonly serverId: string
  readonly query: { readonly remotePath: string; readonly service?: string } | { readonly containerName: string }
  /** Sentence that is added to a refusal; empty if there is none. */
  readonly hint: string
}

const stackSource = (name: Option.Option<string>, place: LocationOptions) =>
  Effect.transposeMapOption(name, resolveWord).pipe(
    Effect.flatMap((project) => locateNamedStack(project, place)),
    Effect.map(({ remotePath, serverId }): Source => ({ serverId, query: { remotePath }, hint: "" }))
  )

const containerSource = (containerName: string, { server }: LocationOptions, isServiceToo: boolean) =>
  Effect.map(
    Option.match(server, { onNone: () => findOnlyServer(containerName), onSome: findStoredServer }),
    ({ server: { id } }): Source => ({
      serverId: id,
      query: { containerName },
      hint: `No project is named ${quoteInput(containerName)} either` +
        (isServiceToo ? ", and no service of the project here" : "")
    })
  )

/**
 * Shows the stack of the project of a name, else the service of that name in the stack of the project here, else the
 * container of that name.
 */
const showSource = <R>(
  name: Option.Option<string>,
  input: LocationOptions & { readonly follow: boolean; readonly service: Option.Option<string> },
  show: (source: Source) => Effect.Effect<void, BerthError, R>
) =>
  stackSource(name, input).pipe(
    Effect.flatMap(show),
    Effect.catchTag("NoSuchProject", ({ name: wanted }) =>
      Effect.gen(function*() {
        const isServiceToo = Option.isNone(input.service) && (yield* isProjectHere)
        const inContainer = Effect.flatMap(containerSource(wanted, input, isServiceToo), show)
        const here = isServiceToo ? yield* Effect.option(stackSource(Option.none(), input)) : Option.none()
        if (Option.isNone(here)) return yield* inContainer
        const { query, serverId } = here.value
        return yield* show({ serverId, query: { ...query, service: wanted }, hint: "" }).pipe(
          // Unfollowed logs fail with 500 whatever is missing. Followed ones that break off are not begun anew elsewhere.
          Effect.catchIf(({ status }) => status === 404 || (status === 500 && !input.follow), () => inContainer)
        )
      }))
  )

const logsCommand = defineServiceCommand(
  {
    name: "logs",
    summary: "Show the logs of projects' stacks, or of a container, running or not.",
    details:
      "Both streams of all services. A name that no project has is that of a service, in the directory of a project, else " +
      "of a container. Of several projects, by their names under the root, the lines come in the order of their times. " +
      "Control characters are shown escaped, also in a pipe: a file or another program's terminal would execute them.",
    examples: [
      "berth logs",
      "berth logs hello -f",
      "berth logs web",
      "berth logs hello shop -f --contains error",
      "berth logs hello --service web --since 2h --until 1h",
      "berth logs hello-web-1 --server main --since 1h"
    ]
  },
  {
    names: repeatedArgument("name", "A project, by its name under the root or its path, or a container.", "project"),
    follow: flagOption("follow", "Go on with every further line, until Ctrl-C.", "f"),
    since: textOption("since", "No line from before it: a time, or how long ago, like 10m or 2h.", { value: "time" }),
    until: textOption("until", "No line from after it, in the same form.", { value: "time" }),
    lines: integerOption("lines", "Number of last lines; 100 unless given.", { value: "number", alias: "n" }),
    service: textOption("service", "One service of the stack; all of them unless given.", { value: "service" }),
    raw: flagOption("raw", "Print the lines as they are, with their control characters and colours."),
    contains: textOption("contains", "Only lines that contain it, in letters of either case.", { value: "text" }),
    ...locationOptions
  },
  Effect.fnUntraced(function*(input) {
    const [name, ...others] = input.names
    if (others.length > 0) return yield* showProjects(input.names, input)
    const { followLogs } = yield* Berth
    const { out, print } = yield* Screen
    const { lines, ...selected } = selection(input)
    return yield* showSource(Option.fromNullable(name), input, ({ hint, query, serverId }) => {
      // Adds no hint to a malformed request: its cause is not the name.
      const withHint = (error: BerthError) =>
        new BerthError({
          ...error,
          message: error.status === 400 ? error.message : appendSentence(error.message, hint)
        })
      const shown = input.follow
        ? Effect.flatMap(makeLineView(input.raw), (view) =>
          Stream.runForEach(
            followLogs(serverId, { ...selection(input), ...query }),
            (event) => input.json ? print(JSON.stringify(event)) : view(event)
          ))
        : showAnswer(
          input,
          (api) =>
            api.serverLogs({
              path: { id: serverId },
              urlParams: { ...selected, ...query, ...(lines === undefined ? {} : { lines: String(lines) }) }
            }),
          ({ logs }) => {
            const text = logs.replace(/\n$/, "")
            if (text === "") return Effect.void
            return print(
              input.raw ? text : text.split("\n").map((line) => escapeLogLine(line, out.hasColor)).join("\n")
            )
          }
        )
      return Effect.mapError(shown, withHint)
    })
  })
)

export const logsCommands = [logsCommand]
