import { Effect, Predicate, Schema, SchemaAST } from "effect"
import type { Berth } from "../../client/Berth.ts"
import { BerthError } from "../../client/BerthError.ts"
import { describeParseError } from "../../schema/words/describeIssues.ts"
import { quoteInput } from "../../schema/words/quoted.ts"
import { buildToolSchema, type ObjectSchema } from "./buildToolSchema.ts"
import { escapeFields } from "./escapedData.ts"
import { fenceData } from "./fenceData.ts"
import { fitToBudget, LeftOut } from "./fitToBudget.ts"
import { shortenText } from "./shortenAnswer.ts"

/** Receives progress messages while the caller waits. */
export type ProgressListener = (progress: string) => Effect.Effect<void>

/** Answer of a tool: data that fits its output schema, and its text between two unforgeable fence lines. */
export interface ToolAnswer {
  readonly structured: Readonly<Record<string, unknown>>
  readonly text: string
}

/** A tool that agents call, with its schemas. */
export interface Tool {
  readonly name: string
  readonly title: string
  /** Purpose and use, in two sentences. */
  readonly description: string
  /** True if it changes nothing; other tools can replace or stop what runs. */
  readonly readOnly: boolean
  readonly inputSchema: ObjectSchema
  readonly outputSchema: ObjectSchema
  /** Validates the input of an agent, executes it and returns the answer. Invalid input fails with a message. */
  readonly call: (given: unknown, heard: ProgressListener) => Effect.Effect<ToolAnswer, BerthError, Berth>
}

interface Definition<A, I, B, J> extends Pick<Tool, "name" | "title" | "description" | "readOnly"> {
  readonly input: Schema.Schema<A, I>
  readonly output: Schema.Schema<B, J>
  readonly call: (given: A, heard: ProgressListener) => Effect.Effect<B, BerthError, Berth>
  /** Text of an answer, already bounded and fenced. Defaults to the data as JSON, which is bounded and fenced here. */
  readonly text?: (answer: B) => string
}

const refused = (message: string) => new BerthError({ reason: "refused", status: 400, message })

/** An empty struct accepts any input. */
const takesNothing = ({ ast }: Schema.Schema.Any) => SchemaAST.isTypeLiteral(ast) && ast.propertySignatures.length === 0

const longestFailure = 8_000

/**
 * Fences the message of a failure. It may quote servers, files and users, and must not look like words of the service.
 */
const fencedFailure = (name: string) => (error: BerthError) =>
  Effect.flatMap(
    fenceData("failure", `why ${name} failed, with words of others in it`, shortenText(error.message, longestFailure)),
    (message) => new BerthError({ ...error, message })
  )

const strictly = { errors: "all", onExcessProperty: "error" } as const

/**
 * Builds a tool that validates its input and output by their schemas. Its answers and failures mark untrusted text as
 * data.
 */
export const defineTool = <A, I, B, J extends object>(
  { call, description, input, name, output, readOnly, text, title }: Definition<A, I, B, J>
): Tool => {
  const outputSchema = withLeftOut(buildToolSchema(output, { described: false }))
  return {
    name,
    title,
    description,
    readOnly,
    inputSchema: buildToolSchema(input, { described: true }),
    outputSchema,
    call: (given, heard) =>
      Effect.gen(function*() {
        if (!Predicate.isRecord(given ?? {})) return yield* refused(`The input of ${name} must be an object`)
        const [unknown] = takesNothing(input) ? Object.keys(given ?? {}) : []
        if (unknown !== undefined) {
          return yield* refused(`${name} takes no arguments, and was given ${quoteInput(unknown)}`)
        }
        const request = yield* Effect.mapError(
          Schema.decodeUnknown(input, strictly)(given ?? {}),
          (error) => refused(describeParseError(error, { whole: `The input of ${name}`, part: "argument" }))
        )
        const answer = yield* Effect.catchAll(call(request, heard), fencedFailure(name))
        const data = escapeFields(yield* Effect.orDie(Schema.encode(output)(answer)))
        if (text !== undefined) return { structured: data, text: text(answer) }
        const structured = fitToBudget(data, outputSchema)
        return { structured, text: yield* fenceData("answer", `the answer of ${name}`, JSON.stringify(structured)) }
      })
  }
}

const withLeftOut = (schema: ObjectSchema): ObjectSchema => ({
  ...schema,
  properties: {
    ...(typeof schema["properties"] === "object" ? schema["properties"] : {}),
    leftOut: buildToolSchema(LeftOut, { described: true })
  }
})
