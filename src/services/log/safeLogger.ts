import { Cause, HashMap, type Layer, Logger, Predicate } from "effect"
import { escaped } from "../../schema/escaped.ts"

const safe = (value: unknown): unknown => Predicate.isString(value) ? escaped(value) : value

/** What went wrong and where, line by line, so that only real line breaks are some. */
const linesOf = (cause: Cause.Cause<unknown>): ReadonlyArray<string> =>
  Cause.isEmpty(cause) ? [] : Cause.pretty(cause, { renderErrorCause: true }).split("\n").map((line) => escaped(line))

/**
 * The log as people read it. Names and messages of others cannot forge a line in it, nor reach the terminal as control
 * characters: each entry begins its own line, and what follows of it is indented.
 */
export const safeLogger: Logger.Logger<unknown, void> = Logger.mapInputOptions(
  Logger.prettyLoggerDefault,
  (options: Logger.Logger.Options<unknown>) => {
    const message = Array.isArray(options.message) ? options.message : [options.message]
    return {
      ...options,
      message: [...message.map(safe), ...linesOf(options.cause)],
      cause: Cause.empty,
      annotations: HashMap.map(options.annotations, safe)
    }
  }
)

/** Puts `safeLogger` in the place of the default one. */
export const SafeLoggerLive: Layer.Layer<never> = Logger.replace(Logger.defaultLogger, safeLogger)
