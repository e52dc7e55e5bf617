import { Clock, Context, Effect, Either, Layer, Option, Predicate, Ref, type Scope } from "effect"
import { Berth, type Call, nameOfThisProcess, SlowAnswers } from "../client/Berth.ts"
import type { BerthError } from "../client/BerthError.ts"
import { findServer, formatServerReference } from "../schema/servers.ts"
import type { SettingsUnconfirmed } from "../schema/settings.ts"
import { formatTimeOfDay, quoteInput, suggestNearest } from "../schema/words.ts"
import { escapeInline, exitCodes, Failed, quoteShellWord, Screen, Usage, wrapText } from "./output.ts"
import {
  argument,
  type CommandContext,
  type CommandDescription,
  type CommandFailure,
  type CommandNode,
  type Config,
  Connection,
  defineCommand,
  flagOption,
  type Input,
  readInputValues,
  textOption
} from "./parse.ts"

/**
 * Asks to confirm settings that were found in the working directory, and stores a "yes". Fails at a "no" or without a
 * terminal.
 */
export const askToConfirm = (unconfirmed: SettingsUnconfirmed): Effect.Effect<void, Failed, Screen> =>
  Effect.gen(function*() {
    const { ask, canAsk, say } = yield* Screen
    const refusal = new Failed({ message: unconfirmed.message })
    if (!canAsk) return yield* refusal
    yield* say(unconfirmed.question.split("\n").map(escapeInline).join("\n"))
    if (!(yield* ask("Use it from now on, until it changes?"))) return yield* refusal
    const { confirmSettings } = yield* Effect.promise(() => import("../client/node/confirmSettings.ts"))
    yield* Effect.mapError(confirmSettings(unconfirmed), ({ message }) => new Failed({ message }))
  })

/** Parsed values of the common options. */
export interface CommonInput {
  readonly json: boolean
  readonly url: Option.Option<string>
  readonly config: Option.Option<string>
}

/** Service or settings named on the command line; suggested commands repeat them. */
export class GivenService extends Context.Reference<GivenService>()("berth/cli/GivenService", {
  defaultValue: (): Pick<CommonInput, "config" | "url"> => ({ url: Option.none(), config: Option.none() })
}) {}

/** Completes a suggested command with the options that select the service. */
export const suggestCommand = (words: string): Effect.Effect<string> =>
  Effect.map(GivenService, ({ config, url }) =>
    [
      words,
      ...Option.toArray(Option.map(url, (url) => `--url ${escapeInline(url)}`)),
      ...Option.toArray(Option.map(config, (file) => `--config ${quoteShellWord(file)}`))
    ].join(" "))

/** Provides the service that the options select, for the duration of the effect. */
export const withService = <A, E, R>(
  { config, url }: Pick<CommonInput, "config" | "url">,
  work: Effect.Effect<A, E, R>
): Effect.Effect<A, E | Failed | Usage, Exclude<Exclude<R, Berth | GivenService>, Scope.Scope> | Connection | Screen> =>
  Effect.scoped(Effect.gen(function*() {
    if (Option.isSome(url) && Option.isSome(config)) {
      return yield* new Usage({ message: "--url names a service, and --config the settings for one: give one of them" })
    }
    const { open } = yield* Connection
    const context = Context.make(Berth, yield* open({ url, config })).pipe(Context.add(GivenService, { url, config }))
    return yield* Effect.provide(work, context)
  }))

/** Calls an endpoint; prints the response body with `--json`, else runs `shown`. */
export const showAnswer = <A, B, E, R>(
  { json }: Pick<CommonInput, "json">,
  call: Call<A>,
  shown: (value: A) => Effect.Effect<B, E, R>
): Effect.Effect<B | void, BerthError | E, Berth | Screen | R> =>
  Effect.gen(function*() {
    const { answer } = yield* Berth
    const { print } = yield* Screen
    const { body, value } = yield* answer(call)
    return yield* json ? print(body) : shown(value)
  })

/** Shows the answer of an endpoint that tries something. Ends with 1 if `works` says no, with `--json` too. */
export const showFinding = <A, E, R>(
  input: Pick<CommonInput, "json">,
  call: Call<A>,
  works: (value: A) => boolean,
  shown: (value: A) => Effect.Effect<A, E, R>
): Effect.Effect<number, BerthError | E, Berth | Screen | R> =>
  Effect.gen(function*() {
    const { answer } = yield* Berth
    const { print } = yield* Screen
    const { body, value } = yield* answer(call)
    const last = input.json ? yield* Effect.as(print(body), value) : yield* shown(value)
    return works(last) ? exitCodes.done : exitCodes.failed
  })

/** Longest silence of a command that waits for an answer. */
const noticeDelay = "1500 millis"

/** Says for whom a command waits, and since when, once that takes long. A terminal shows it only meanwhile. */
export const announceSlowAnswers: Layer.Layer<SlowAnswers, never, Screen> = Layer.effect(
  SlowAnswers,
  Effect.map(Effect.all([Screen, Ref.make(false)]), ([{ canRedraw, err, say, show }, hasSaid]) => ({
    meanwhile: (where, { headers, url }) =>
      Effect.gen(function*() {
        // A command in a container, and what is followed, are silent for as long as nothing happens.
        if (headers["accept"] === "text/event-stream" || url.includes("/api/exec/")) yield* Effect.never
        const isHere = where === nameOfThisProcess
        const since = formatTimeOfDay(new Date(yield* Clock.currentTimeMillis))
        const words = `${isHere ? "At work" : `Waiting for ${escapeInline(where)}`}, since ${since} (Ctrl-C ends it)`
        // In this process, the store says who holds it.
        if (isHere && headers["prefer"] !== undefined) yield* Effect.never
        yield* Effect.sleep(noticeDelay)
        // A line that the terminal wraps would not be cleared whole.
        const lines = wrapText(words, err).split("\n")
        if (canRedraw) yield* Effect.ensuring(Effect.zipRight(show(lines), Effect.never), show([]))
        yield* Effect.unlessEffect(say(words), Ref.getAndSet(hasSaid, true))
      })
  }))
)

/** Options of every command that calls the service. */
export const common = {
  json: flagOption("json", "Print exactly what the service answers, as JSON."),
  url: textOption("url", "The service to ask, in place of BERTH_URL or the one of this machine.", { value: "address" }),
  config: textOption("config", "The settings file, in place of BERTH_CONFIG.", { value: "file", names: "file" })
}

export const yes = flagOption("yes", "Do not ask; needed where there is no terminal.", "y")

/** Defines a command that calls the service: it takes the common options after its own. */
export const defineServiceCommand = <const C extends Config>(
  words: CommandDescription,
  config: C,
  handler: (
    input: Input<C> & CommonInput
  ) => Effect.Effect<number | void, CommandFailure, CommandContext | Berth | GivenService | Scope.Scope>
): CommandNode =>
  defineCommand(words, { ...config, ...common }, (given) => {
    const input = { ...readInputValues(config, given), ...readInputValues(common, given) }
    return withService(input, handler(input))
  })

/**
 * Adds to a message about missing servers, which has no full stop, that the settings file does not exist: a misspelled
 * `BERTH_CONFIG` or `--config` looks like a fresh installation otherwise.
 */
const addMissingFile = (message: string) =>
  Effect.map(
    // The file is a hint only: a failure to read the settings must not replace the message.
    Effect.option(Effect.flatMap(Berth, ({ use }) => use((api) => api.listSettings({})))),
    Option.match({
      onNone: () => message,
      onSome: ({ exists, file }) =>
        exists === false ? `${message}. The settings file ${escapeInline(file)} does not exist` : message
    })
  )

/** Message, without a full stop, for settings without any server. */
export const describeNoServers = Effect.suspend(() =>
  addMissingFile("No server is stored yet: add one with berth server add")
)

/** Finds a stored server by its id, else by its unique name; adds its display name. */
export const findStoredServer = (idOrName: string) =>
  Effect.gen(function*() {
    const servers = yield* (yield* Berth).use((api) => api.listServers({}))
    if (servers.length === 0) {
      return yield* new Failed({
        message: yield* addMissingFile(
          "No server is stored in the settings that are used here: berth doctor says which file that is, and " +
            "berth server add adds one"
        )
      })
    }
    const found = findServer(servers, idOrName)
    if (Either.isRight(found)) return { server: found.right, callName: formatServerReference(servers, found.right) }
    if (found.left._tag === "ServerAmbiguous") return yield* new Failed({ message: found.left.message })
    const meant = suggestNearest(idOrName, servers.flatMap(({ id, name }) => [id, name]))
    return yield* new Failed({
      message: `No server with the id or the name ${
        quoteInput(idOrName)
      } is stored.${meant} berth server list names them`
    })
  })

export const applicationName = argument("name", "The exact name of an application of the platform.", "application")

export const makeApplicationNotFound = (appName: string) =>
  new Failed({
    message: `The platform has no application named "${escapeInline(appName)}": berth app list names those that it has`
  })

/** Finds the uuid of an application of the platform by its exact name. */
export const findUuid = (appName: string) =>
  Effect.gen(function*() {
    const found = yield* (yield* Berth).use((api) => api.findApplication({ path: { name: appName } }))
    return found !== null && Predicate.isString(found["uuid"]) ? Option.some(found["uuid"]) : Option.none()
  })

/** Finds the uuid of an application by its exact name; fails if there is none. */
export const requireUuid = (appName: string) =>
  Effect.flatMap(
    findUuid(appName),
    Option.match({ onNone: () => makeApplicationNotFound(appName), onSome: Effect.succeed })
  )
