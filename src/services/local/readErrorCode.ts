import { Predicate } from "effect"

/** Error code of the system or a library, such as `ENOENT`; empty when there is none. */
export const readErrorCode = (cause: unknown): string =>
  Predicate.hasProperty(cause, "code") && Predicate.isString(cause.code) ? cause.code : ""
