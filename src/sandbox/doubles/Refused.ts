import { Data } from "effect"

/** Refusal of a request by a double's state; the double adds the vendor's message and status. */
export class Refused extends Data.TaggedError("Refused")<{
  readonly why: "missing" | "taken" | "invalid"
  /** Kind of the resource, such as `Application` or `Hook`. */
  readonly what: string
  /** Invalid fields, each with its reasons. */
  readonly fields: Readonly<Record<string, ReadonlyArray<string>>>
}> {
  static missing(what: string) {
    return new Refused({ why: "missing", what, fields: {} })
  }
  static taken(what: string) {
    return new Refused({ why: "taken", what, fields: {} })
  }
  static invalid(what: string, fields: Readonly<Record<string, ReadonlyArray<string>>>) {
    return new Refused({ why: "invalid", what, fields })
  }
}
