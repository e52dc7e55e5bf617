import { Data } from "effect"

/** Refusal of a request by a double's state, without a vendor's words and status. */
export class Refused extends Data.TaggedError("Refused")<{
  readonly why: "missing" | "taken" | "invalid"
  /** Kind of the resource: `Application`, `Hook`. */
  readonly what: string
  /** The fields that do not fit, each with its reasons. */
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
