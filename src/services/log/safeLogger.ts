import { Cause, HashMap, type Layer, Logger, Predicate } from "effect"
import { escapeText } from "../../schema/words/escaped.ts"

const safe = (value: unknown): unknown => Predicate.isString(value) ? escapeText(value) : value

/** Escapes a cause line by line, so that only its real line breaks remain. */
const linesOf = (cause: Cause.Cause<unknown>): ReadonlyArray<string> =>
  Cause.isEmpty(cause)
    ? []
    : Cause.pretty(cause, { renderErrorCause: true }).split("\n").map((line) => escapeText(line))

/**
 * Logger for terminals that escapes control characters: untrusted names and messages can neither forge a line nor
 * control the terminal.
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

/** Replaces the default logger with `safeLogger`. */
export const SafeLoggerLive: Layer.Layer<never> = Logger.replace(Logger.defaultLogger, safeLogger)
