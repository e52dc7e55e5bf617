import { Config, Effect, Option, Schema } from "effect"

/** The service was started with an invalid option. */
export class NotStarted extends Schema.TaggedError<NotStarted>()("NotStarted", { reason: Schema.String }) {
  override get message() {
    return `Berth was not started: ${this.reason}`
  }
}

const highestPort = 65_535

const judged = (given: string) =>
  /^\d{1,5}$/.test(given) && Number(given) <= highestPort
    ? Effect.succeed(Number(given))
    : new NotStarted({
      reason: `BERTH_PORT must be a port from 0 to ${highestPort}, not ${JSON.stringify(given.slice(0, 40))}`
    })

/** Port from `BERTH_PORT`, if set; 0 picks a free one. */
export const configuredPort = Effect.gen(function*() {
  const given = yield* Config.option(Config.string("BERTH_PORT"))
  return Option.isNone(given) ? Option.none<number>() : Option.some(yield* judged(given.value.trim()))
})
