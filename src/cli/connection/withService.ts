import { Context, Effect, Option, type Scope } from "effect"
import { Berth, type Call } from "../../client/Berth.ts"
import type { BerthError } from "../../client/BerthError.ts"
import { type Failed, Usage } from "../terminal/commandErrors.ts"
import { quoteShellWord } from "../terminal/quoteShellWord.ts"
import { escapeInline } from "../terminal/safeText.ts"
import { Screen } from "../terminal/Screen.ts"
import { Connection } from "./Connection.ts"

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
