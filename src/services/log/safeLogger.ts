import { Cause, HashMap, type Layer, Logger, Predicate } from "effect"

// C0 and C1 controls, what ends a line, and what changes the direction of text.
const unsafe = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

const named: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }

/** A text on one line, whatever it holds: control characters stand there as `\n` or `\u001b`. */
export const escaped = (text: string): string =>
  text.replace(unsafe, (sign) => named[sign] ?? `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`)

const safe = (value: unknown): unknown => Predicate.isString(value) ? escaped(value) : value

/** What went wrong and where, line by line, so that only real line breaks are some. */
const linesOf = (cause: Cause.Cause<unknown>): ReadonlyArray<string> =>
  Cause.isEmpty(cause) ? [] : Cause.pretty(cause, { renderErrorCause: true }).split("\n").map(escaped)

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
