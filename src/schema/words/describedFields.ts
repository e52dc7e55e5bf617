import { Schema } from "effect"

const annotated = <A>(description: string, [first, ...others]: ReadonlyArray<A>) =>
  first === undefined ? { description } : { description, examples: [first, ...others] as const }

/** String with a description and examples for the API. */
export const text = (description: string, ...examples: ReadonlyArray<string>) =>
  Schema.String.annotations(annotated(description, examples))

/** Nullable string with a description and examples for the API. */
export const textOrNull = (description: string, ...examples: ReadonlyArray<string>) =>
  Schema.NullOr(Schema.String).annotations(annotated(description, examples))

/** Number with a description and examples for the API. */
export const number = (description: string, ...examples: ReadonlyArray<number>) =>
  Schema.Number.annotations(annotated(description, examples))

/** Boolean with a description for the API. */
export const flag = (description: string) => Schema.Boolean.annotations({ description })

/** List of strings with a description and examples for the API. */
export const texts = (description: string, ...examples: ReadonlyArray<ReadonlyArray<string>>) =>
  Schema.Array(Schema.String).annotations(annotated(description, examples))

/** Field with a named schema; the description is specific to the field. */
export const field = <A, I>(schema: Schema.Schema<A, I>, description: string) =>
  Schema.propertySignature(schema).annotations({ description })

/** Discriminator of answers that can only be a success. */
export const done = Schema.Literal(true).annotations({
  description: "It was done: what fails is answered with an error."
})

/** Absolute path of a project's directory, in requests. */
export const projectPath = text(
  "The absolute path of the project's directory on this machine.",
  "/home/ann/projects/hello"
)

/** Reference to a stored server, in requests. */
export const serverId = text("The id or the name of a stored server.", "1")

/** Reference to a stored server, in responses. */
export const storedServerId = text("The id of a stored server.", "1")
