import { Schema } from "effect"

const annotated = <A>(description: string, [first, ...others]: ReadonlyArray<A>) =>
  first === undefined ? { description } : { description, examples: [first, ...others] as const }

/** A string that the description of the API explains, with examples. */
export const text = (description: string, ...examples: ReadonlyArray<string>) =>
  Schema.String.annotations(annotated(description, examples))

/** A string, or null. */
export const textOrNull = (description: string, ...examples: ReadonlyArray<string>) =>
  Schema.NullOr(Schema.String).annotations(annotated(description, examples))

/** A number. */
export const number = (description: string, ...examples: ReadonlyArray<number>) =>
  Schema.Number.annotations(annotated(description, examples))

/** True or false. */
export const flag = (description: string) => Schema.Boolean.annotations({ description })

/** A list of strings. */
export const texts = (description: string, ...examples: ReadonlyArray<ReadonlyArray<string>>) =>
  Schema.Array(Schema.String).annotations(annotated(description, examples))

/** A field whose schema has a name of its own: what it means here is said beside that name. */
export const field = <A, I>(schema: Schema.Schema<A, I>, description: string) =>
  Schema.propertySignature(schema).annotations({ description })

/** Discriminator of answers that can only be a success. */
export const done = Schema.Literal(true).annotations({
  description: "It was done: what fails is answered with an error."
})

/** The absolute path of a project's directory, as requests name it. */
export const projectPath = text(
  "The absolute path of the project's directory on this machine.",
  "/home/ann/projects/hello"
)

/** A stored server, as requests name it. */
export const serverId = text("The id or the name of a stored server.", "1")

/** A stored server, as answers name it. */
export const storedServerId = text("The id of a stored server.", "1")
