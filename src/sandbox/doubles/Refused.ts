import { Data } from "effect"

/** Why a double's state turns a request down, whatever words and status a vendor has for it. */
export class Refused extends Data.TaggedError("Refused")<{
  readonly why: "missing" | "taken" | "invalid"
  /** What it concerns: `Application`, `Hook`. */
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
