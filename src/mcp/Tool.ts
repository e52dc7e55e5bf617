import { Effect, Predicate, Schema, SchemaAST } from "effect"
import type { Berth } from "../client/Berth.ts"
import { BerthError } from "../client/BerthError.ts"
import { errorInWords } from "../schema/inWords.ts"
import { quoted } from "../schema/quoted.ts"
import { type ObjectSchema, slimSchema } from "./slimSchema.ts"
import { LeftOut, withinBudget } from "./withinBudget.ts"

/** What a caller hears while it waits: how far it has come, in words. */
export type Heard = (progress: string) => Effect.Effect<void>

/** What a tool answers: data that fits its output schema, and the text of it where that is not the data itself. */
export interface ToolAnswer {
  readonly structured: Readonly<Record<string, unknown>>
  readonly text: string
}

/** One thing that an agent can ask for. */
export interface Tool {
  readonly name: string
  readonly title: string
  /** What it does and when to use it, in two sentences. */
  readonly description: string
  /** Whether it changes nothing anywhere; one that does can replace or end what runs. */
  readonly readOnly: boolean
  readonly inputSchema: ObjectSchema
  readonly outputSchema: ObjectSchema
  /** Checks what an agent sends, does it, and answers; what is wrong with it is a failure in words. */
  readonly call: (given: unknown, heard: Heard) => Effect.Effect<ToolAnswer, BerthError, Berth>
}

/** What a tool is made of. */
interface Definition<A, I, B, J> extends Pick<Tool, "name" | "title" | "description" | "readOnly"> {
  readonly input: Schema.Schema<A, I>
  readonly output: Schema.Schema<B, J>
  readonly call: (given: A, heard: Heard) => Effect.Effect<B, BerthError, Berth>
  /** The text of an answer; its data as JSON unless given. */
  readonly text?: (answer: B) => string
}

const refused = (message: string) => new BerthError({ reason: "refused", status: 400, message })

/** An empty struct lets everything pass. */
const takesNothing = ({ ast }: Schema.Schema.Any) => SchemaAST.isTypeLiteral(ast) && ast.propertySignatures.length === 0

const strictly = { errors: "all", onExcessProperty: "error" } as const

/** A tool whose two ends are checked by its schemas. */
export const tool = <A, I, B, J extends object>(
  { call, description, input, name, output, readOnly, text, title }: Definition<A, I, B, J>
): Tool => ({
  name,
  title,
  description,
  readOnly,
  inputSchema: slimSchema(input, { described: true }),
  outputSchema: withLeftOut(slimSchema(output, { described: false })),
  call: (given, heard) =>
    Effect.gen(function*() {
      if (!Predicate.isRecord(given ?? {})) return yield* refused(`The input of ${name} must be an object`)
      const [unknown] = takesNothing(input) ? Object.keys(given ?? {}) : []
      if (unknown !== undefined) return yield* refused(`${name} takes no arguments, and was given ${quoted(unknown)}`)
      const request = yield* Effect.mapError(
        Schema.decodeUnknown(input, strictly)(given ?? {}),
        (error) => refused(errorInWords(error, { whole: `The input of ${name}`, part: "argument" }))
      )
      const answer = yield* call(request, heard)
      const structured = withinBudget(yield* Effect.orDie(Schema.encode(output)(answer)))
      return { structured, text: text === undefined ? JSON.stringify(structured) : text(answer) }
    })
})

const withLeftOut = (schema: ObjectSchema): ObjectSchema => ({
  ...schema,
  properties: {
    ...(typeof schema["properties"] === "object" ? schema["properties"] : {}),
    leftOut: slimSchema(LeftOut, { described: true })
  }
})
