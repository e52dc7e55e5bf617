import { Context, type Effect } from "effect"

/** What one of the two streams goes to. */
export interface Surface {
  /** Whether a person sees it as it is written, so that it may be coloured and redrawn. */
  readonly isTerminal: boolean
  readonly hasColor: boolean
  /** How many characters fit on a line. */
  readonly columns: number
}

/** What a command prints, says and asks. Data goes to stdout; progress, questions and failures go to stderr. */
export class Screen extends Context.Tag("berth/cli/Screen")<Screen, {
  readonly out: Surface
  readonly err: Surface
  /** Whether somebody is there to answer a question. */
  readonly canAsk: boolean
  /** Whether lines may be redrawn in place on stderr. */
  readonly canRedraw: boolean
  /** Writes lines to stdout. */
  readonly print: (text: string) => Effect.Effect<void>
  /** Writes lines to stderr; on a terminal, those that are too long are broken between their words. */
  readonly say: (text: string) => Effect.Effect<void>
  /** Shows these lines below all others on stderr, in place of those that it showed before; none takes them away. */
  readonly show: (lines: ReadonlyArray<string>) => Effect.Effect<void>
  /** Asks a question that is answered with yes or no; anything but a clear yes is a no. */
  readonly ask: (question: string) => Effect.Effect<boolean>
}>() {}
