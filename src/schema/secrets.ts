import { Schema } from "effect"
import { environmentField } from "./environments.ts"
import { projectPath, strictBody, strictQuery, text, texts } from "./validation.ts"
import { quoteInput, suggestNearest } from "./words.ts"

/** Directory of secret files, in a project's compose file and at its remote path. */
export const secretsDirectory = ".secrets"

/** True for the file of a secret, relative to the remote path. */
export const isSecretFile = (name: string): boolean => name.startsWith(`${secretsDirectory}/`)

/** Line of an uploaded `.env` above the secrets, by which they are recognized on the server. */
export const secretsHeading = "# Secrets of container.json, added by Berth when it deploys"

/** Variables that Berth writes to quote others; no secret can have these names. */
export const quotingVariables = { dollar: "BERTH_DOLLAR", backslash: "BERTH_BACKSLASH" } as const

const reserved: ReadonlyArray<string> = Object.values(quotingVariables)
const mostArguments = 100
const saying = (words: string) => ({ message: () => ({ message: words, override: true }) })

/** Name of a secret: of its variable, or of its file below `.secrets`. */
export const SecretName = Schema.String.pipe(
  Schema.filter((name) => /^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name) && !reserved.includes(name))
).annotations(saying("must be named like a variable: letters, digits and _, up to 128, not beginning with a digit"))

const Command = Schema.NonEmptyArray(Schema.String.pipe(Schema.filter((word) => !word.includes("\0")))).pipe(
  Schema.filter((words) => words[0].trim() !== "" && words.length <= mostArguments)
).annotations(saying("must be a list of strings: a program and up to 99 arguments"))
const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))

/** Source of a secret in `container.json`: the output of a command, or an entry of an age file. */
export const SecretSource = Schema.Struct({
  command: optional(Command),
  age: optional(Schema.String.pipe(Schema.minLength(1))),
  as: optional(Schema.Literal("file").annotations(saying("must be \"file\", or left out for a variable")))
}).pipe(
  Schema.filter(({ age, command }) =>
    [age, command].filter((source) => source !== undefined && source !== null).length === 1 ||
    "must have either \"command\", a program and its arguments, or \"age\", a file of the project"
  )
)
export interface SecretSource extends Schema.Schema.Type<typeof SecretSource> {}

/** Age file of a project that declares none yet. */
export const usualAgeFile = "secrets.age"

/** Describes a name that a project declares no secret by, as the end of a sentence about its `container.json`. */
export const describeUndeclaredSecret = (name: string, declared: ReadonlyArray<string>): string =>
  `has no secret ${quoteInput(name)}. Nothing was changed.` +
  (suggestNearest(name, declared) ||
    ` Declare it first: "secrets": { ${JSON.stringify(name)}: { "age": "${usualAgeFile}" } }`)

const name = text("The name of the secret.", "DB_PASSWORD")
const source = text("The program that prints it, or the age file that holds it.", "op", "secrets.age")
const services = texts("The services that use it.", ["web"])

/** Planned change of a secret. */
export const PlannedSecret = Schema.Struct({
  name,
  source,
  change: Schema.Literal("same", "changed", "new", "gone", "unknown").annotations({
    description:
      "`unknown`: it was not resolved, as for viewers and with `noSecrets`; the plan takes it for unchanged. `gone`: an " +
      "earlier deploy brought it."
  }),
  services
}).annotations({ identifier: "PlannedSecret" })
export interface PlannedSecret extends Schema.Schema.Type<typeof PlannedSecret> {}

const changeWords = {
  changed: "changed",
  new: "new",
  gone: "no longer declared",
  unknown: "not resolved",
  same: "unchanged"
}

/** Describes the change of a secret, its source and its users. */
export const describeSecret = ({ change, services, source }: PlannedSecret): string =>
  [
    changeWords[change],
    ...source === "" ? [] : [`from ${source}`],
    ...services.length === 0 ? [] : [`for ${services.join(", ")}`]
  ].join(", ")

/** Project whose secrets are listed. */
export const ListSecretsQuery = Schema.Struct({
  projectPath,
  environment: Schema.optional(text("The environment of container.json to take.", "staging"))
})
  .annotations(strictQuery)

/** Project whose secrets are resolved. */
export const CheckSecretsRequest = Schema.Struct({ projectPath, ...environmentField }).annotations({
  identifier: "CheckSecretsRequest",
  ...strictBody
})
export interface CheckSecretsRequest extends Schema.Schema.Type<typeof CheckSecretsRequest> {}

/** Secret to encrypt into its age file. */
export const SetSecretRequest = Schema.Struct({
  projectPath,
  ...environmentField,
  name: text("The name of the secret, which container.json declares with an age file.", "STRIPE_KEY"),
  value: Schema.Redacted(
    Schema.String.pipe(Schema.minLength(1), Schema.maxLength(262_144)).annotations({ description: "Its new value." })
  )
}).annotations({ identifier: "SetSecretRequest", ...strictBody })
export interface SetSecretRequest extends Schema.Schema.Type<typeof SetSecretRequest> {}

const keys = (description: string) =>
  Schema.optional(Schema.NullOr(Schema.Array(Schema.String))).annotations({ description })

/** Change of the public keys that the age files of a project are encrypted for. */
export const RecipientsRequest = Schema.Struct({
  projectPath,
  ...environmentField,
  add: keys("Public keys to add: of age (age1…), or Ed25519 keys of SSH."),
  remove: keys("Public keys to remove.")
}).annotations({ identifier: "RecipientsRequest", ...strictBody })
export interface RecipientsRequest extends Schema.Schema.Type<typeof RecipientsRequest> {}

/** A secret that a project declares, without its value. */
export const ListedSecret = Schema.Struct({
  name,
  source,
  as: Schema.Literal("variable", "file").annotations({ description: "How its services get it." }),
  services,
  problem: Schema.optionalWith(Schema.String, { exact: true }).annotations({
    description: "Why it could not be resolved; absent where it could, or was not tried."
  })
}).annotations({ identifier: "ListedSecret" })
export interface ListedSecret extends Schema.Schema.Type<typeof ListedSecret> {}

/** Secrets of a project. */
export const ProjectSecrets = Schema.Struct({
  projectPath,
  secrets: Schema.Array(ListedSecret).annotations({ description: "In the order of container.json." }),
  recipients: texts("Public keys that the age files are encrypted for.", ["age1…"])
}).annotations({ identifier: "ProjectSecrets" })
export interface ProjectSecrets extends Schema.Schema.Type<typeof ProjectSecrets> {}

const mostTold = 5

/** Secrets could not be resolved. `reasons` begin with the name of the secret, and have no value of one. */
export class SecretsUnresolved extends Schema.TaggedError<SecretsUnresolved>()("SecretsUnresolved", {
  reasons: Schema.NonEmptyArray(Schema.String)
}) {
  readonly status = 422
  override get message() {
    const more = this.reasons.length - mostTold
    const told = this.reasons.slice(0, mostTold)
    return `Secrets could not be resolved: ${[...told, ...more > 0 ? [`${more} more`] : []].join("; ")}. ` +
      "Nothing was changed"
  }
}
