import { Context, Effect, Option, type Scope } from "effect"
import { Berth, type Call } from "../client/Berth.ts"
import type { BerthError } from "../client/BerthError.ts"
import { Connection } from "./Connection.ts"
import type { Failed, Usage } from "./Failure.ts"
import { flag, text } from "./parse/described.ts"
import { safeText } from "./terminal/safeText.ts"
import { Screen } from "./terminal/Screen.ts"

/** What every command that asks the service takes. */
export const common = {
  json: flag("json", "Print exactly what the service answers, as JSON."),
  url: text("url", "The service to ask, in place of BERTH_URL or the one of this machine.", { value: "address" })
}

export const yes = flag("yes", "Do not ask; needed where there is no terminal.", "y")

export interface Common {
  readonly json: boolean
  readonly url: Option.Option<string>
}

/** The service that the command line names, which a further command has to name too. */
export class GivenUrl extends Context.Reference<GivenUrl>()("berth/cli/GivenUrl", {
  defaultValue: (): Option.Option<string> => Option.none()
}) {}

/** A further command as somebody would type it here. */
export const furtherCommand = (words: string): Effect.Effect<string> =>
  Effect.map(GivenUrl, Option.match({ onNone: () => words, onSome: (url) => `${words} --url ${safeText(url)}` }))

/** Works with the service that a command is for. */
export const connected = <A, E, R>(
  { url }: Pick<Common, "url">,
  work: Effect.Effect<A, E, R>
): Effect.Effect<A, E | Failed | Usage, Exclude<Exclude<R, Berth | GivenUrl>, Scope.Scope> | Connection> =>
  Effect.scoped(Effect.gen(function*() {
    const { open } = yield* Connection
    const context = Context.make(Berth, yield* open(url)).pipe(Context.add(GivenUrl, url))
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
