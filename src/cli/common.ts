import { Context, Effect, Option, type Scope } from "effect"
import { Berth, type Call } from "../client/Berth.ts"
import type { BerthError } from "../client/BerthError.ts"
import { Connection } from "./Connection.ts"
import { type Failed, Usage } from "./Failure.ts"
import { flag, text } from "./parse/described.ts"
import { safeText } from "./terminal/safeText.ts"
import { Screen } from "./terminal/Screen.ts"
import { shellWord } from "./terminal/shellWord.ts"

/** What every command that asks the service takes. */
export const common = {
  json: flag("json", "Print exactly what the service answers, as JSON."),
  url: text("url", "The service to ask, in place of BERTH_URL or the one of this machine.", { value: "address" }),
  config: text("config", "The settings file, in place of BERTH_CONFIG.", { value: "file", names: "file" })
}

export const yes = flag("yes", "Do not ask; needed where there is no terminal.", "y")

export interface Common {
  readonly json: boolean
  readonly url: Option.Option<string>
  readonly config: Option.Option<string>
}

/** The service or settings that the command line names, which a further command has to name too. */
export class GivenService extends Context.Reference<GivenService>()("berth/cli/GivenService", {
  defaultValue: (): Pick<Common, "config" | "url"> => ({ url: Option.none(), config: Option.none() })
}) {}

/** A further command as somebody would type it here. */
export const furtherCommand = (words: string): Effect.Effect<string> =>
  Effect.map(GivenService, ({ config, url }) =>
    [
      words,
      ...Option.toArray(Option.map(url, (url) => `--url ${safeText(url)}`)),
      ...Option.toArray(Option.map(config, (file) => `--config ${shellWord(file)}`))
    ].join(" "))

/** Works with the service that a command is for. */
export const connected = <A, E, R>(
  { config, url }: Pick<Common, "config" | "url">,
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

/** Asks one endpoint, and shows its answer: as it came with `--json`, and else as `shown` makes it. */
export const answered = <A, B, E, R>(
  { json }: Pick<Common, "json">,
  call: Call<A>,
  shown: (value: A) => Effect.Effect<B, E, R>
): Effect.Effect<B | void, BerthError | E, Berth | Screen | R> =>
  Effect.gen(function*() {
    const { answer } = yield* Berth
    const { print } = yield* Screen
    const { body, value } = yield* answer(call)
    return yield* json ? print(body) : shown(value)
  })
