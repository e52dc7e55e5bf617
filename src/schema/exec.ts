import { Schema } from "effect"
import { field, flag, number, RemotePathText, strictBody, text, texts } from "./validation.ts"

const side = (what: string) =>
  Schema.Number.pipe(Schema.int(), Schema.between(1, 10_000)).annotations({
    description: what,
    examples: [80],
    message: () => ({ message: "must be a whole number from 1 to 10,000", override: true })
  })

/** Size of a terminal, in characters. */
export const TerminalSize = Schema.Struct({
  columns: side("Characters of a line."),
  rows: side("Lines.")
}).annotations({ identifier: "TerminalSize", ...strictBody })
export interface TerminalSize extends Schema.Schema.Type<typeof TerminalSize> {}

/** Terminal of a command. */
export const ExecTerminal = Schema.Struct({
  ...TerminalSize.fields,
  type: Schema.String.pipe(
    Schema.pattern(/^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$/, { message: () => "must be the name of a terminal type" })
  ).annotations({ description: "Its type, which becomes TERM.", examples: ["xterm-256color"] })
}).annotations({ identifier: "ExecTerminal" })
export interface ExecTerminal extends Schema.Schema.Type<typeof ExecTerminal> {}

/** A command to run in a container of a stack. */
export const ExecRequest = Schema.Struct({
  remotePath: field(RemotePathText, "The directory of the stack on the server."),
  service: Schema.optional(
    text("The service whose container runs it; may be left out where the stack has one.", "web")
  ),
  command: Schema.optional(
    Schema.Array(Schema.String).pipe(Schema.minItems(1), Schema.maxItems(1_000)).annotations({
      description: "The program and its arguments, which no shell reads. Left out, it is a shell: bash, or else sh.",
      examples: [["npm", "run", "migrate"]]
    })
  ),
  terminal: Schema.optional(ExecTerminal).annotations({
    description: "The terminal that it runs on. Without one, its two streams stay apart and every byte is passed on."
  })
}).annotations({ identifier: "ExecRequest", ...strictBody })
export interface ExecRequest extends Schema.Schema.Type<typeof ExecRequest> {}

/** Input for a running command. */
export const ExecInput = Schema.Struct({
  data: Schema.Uint8ArrayFromBase64.annotations({
    description: "Bytes in base64.",
    jsonSchema: { type: "string", contentEncoding: "base64", description: "Bytes in base64.", examples: ["bHMK"] },
    message: () => ({ message: "must be base64", override: true })
  }),
  offset: Schema.Number.pipe(Schema.int(), Schema.nonNegative()).annotations({
    description: "Number of bytes of input before it: those that were taken already are left out.",
    examples: [0],
    message: () => ({ message: "must be a whole number from 0 on", override: true })
  }),
  end: Schema.optional(flag("True where the input ends after it."))
}).annotations({ identifier: "ExecInput", ...strictBody })
export interface ExecInput extends Schema.Schema.Type<typeof ExecInput> {}

/** Confirmation of received input. */
export const ExecInputTaken = Schema.Struct({
  received: number("Bytes of input that were taken so far; send what follows them.", 1_024),
  ended: flag("True when the end of the input was taken, too.")
}).annotations({ identifier: "ExecInputTaken" })
export interface ExecInputTaken extends Schema.Schema.Type<typeof ExecInputTaken> {}

/** First event of a running command. */
export const ExecOpened = Schema.Struct({
  exec: text("The id, for its input, its size and its end.", "0f8e5d7c6b5a49382716051423324150"),
  container: text("The container.", "hello-web-1"),
  service: text("Its service.", "web"),
  command: texts("The program and its arguments.", ["sh"])
}).annotations({ identifier: "ExecOpened" })
export interface ExecOpened extends Schema.Schema.Type<typeof ExecOpened> {}

/** Output of a running command, in base64. */
export const ExecOutput = Schema.Struct({
  stream: Schema.Literal("stdout", "stderr"),
  data: Schema.Uint8ArrayFromBase64
})
export interface ExecOutput extends Schema.Schema.Type<typeof ExecOutput> {}

/** Exit code of a command; null if it was killed. */
export const ExecExit = Schema.Struct({ code: Schema.NullOr(Schema.Int) })
export interface ExecExit extends Schema.Schema.Type<typeof ExecExit> {}

/** Events of a command after `opened`. */
export type ExecEvent =
  | { readonly event: "output"; readonly data: ExecOutput }
  | { readonly event: "exit"; readonly data: ExecExit }

/** The command was not started, or is not running. */
export class ExecRefused extends Schema.TaggedError<ExecRefused>()("ExecRefused", {
  status: Schema.Literal(403, 404, 409, 422),
  reason: Schema.String
}) {
  override get message() {
    return this.reason
  }
}

/** Berth ended a running command. */
export class ExecEnded extends Schema.TaggedError<ExecEnded>()("ExecEnded", { reason: Schema.String }) {
  readonly status = 409
  override get message() {
    return this.reason
  }
}
