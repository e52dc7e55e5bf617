import { Predicate } from "effect"

/** The code that the system or a library gave to a failure, `ENOENT` for instance; empty when it gave none. */
export const readErrorCode = (cause: unknown): string =>
  Predicate.hasProperty(cause, "code") && Predicate.isString(cause.code) ? cause.code : ""
