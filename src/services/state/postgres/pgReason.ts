import { Data, Predicate } from "effect"

/** The schema `berth`, or an object in it, belongs to a role other than the one that connects. */
export class ForeignSchema extends Data.TaggedError("ForeignSchema")<{
  readonly kind: string
  readonly name: string
  readonly owner: string
  readonly role: string
}> {
  get reason() {
    const what = this.kind === "schema" ? "the schema berth in it" : `the ${this.kind} ${this.name} in its schema berth`
    return `${what} belongs to the role ${this.owner}, but state.url connects as ${this.role}: the owner could read and ` +
      `change every run. Nothing was changed there. If ${this.owner} is the role of your services, put it into ` +
      "state.url; else check what the schema contains, and drop it (DROP SCHEMA berth CASCADE)"
  }
}

/** Error code of PostgreSQL, or of the system if the connection failed; empty when there is none. */
export const readPgCode = (error: unknown): string => {
  const cause = Predicate.hasProperty(error, "cause") ? error.cause : error
  return Predicate.hasProperty(cause, "code") && Predicate.isString(cause.code) ? cause.code : ""
}

const later = "What needs no history of runs works meanwhile, and runs go on by themselves when it is back"

const reasons: ReadonlyArray<readonly [code: RegExp, reason: string]> = [
  [/^(ECONNREFUSED|ENOENT|57P0[123])$/, `it does not take connections. Check that it is started. ${later}`],
  [/^(ENOTFOUND|EAI_AGAIN)$/, `its host name is not known here. Check state.url in the settings. ${later}`],
  [/^28/, "it refuses the user or the password. Check state.url in the settings"],
  [/^3D000$/, "there is no database of that name. Create it, or correct state.url in the settings"],
  [
    /^42501$/,
    "its user lacks a right. Make that user the owner of the database, or create the schema for it: " +
    "CREATE SCHEMA berth AUTHORIZATION, followed by its name"
  ],
  [/^25006$/, "it can only be read: it is a standby. Let state.url lead to the primary"],
  [/^53300$/, `it has too many connections already. Raise its max_connections. ${later}`],
  [/^53100$/, `its disk is full. Free some space there. ${later}`],
  [/^42P01$/, "its tables are missing. Restart this service, which makes them"],
  [/^(E[A-Z]+|08.*|)$/, `it cannot be reached. Check that it is up, and the network to it. ${later}`]
]

/** Explains an error of PostgreSQL to users, without the password. */
export const describePgError = (error: unknown): string =>
  Predicate.hasProperty(error, "cause") && error.cause instanceof ForeignSchema
    ? error.cause.reason
    : reasons.find(([code]) => code.test(readPgCode(error)))?.[1] ??
      `it answered with the error ${readPgCode(error)}. ${later}`
