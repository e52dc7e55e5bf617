import { Context, type Effect } from "effect"

/** Properties of stdout or stderr. */
export interface Surface {
  /** True on a terminal. */
  readonly isTerminal: boolean
  readonly hasColor: boolean
  /** Characters per line. */
  readonly columns: number
}

/** Terminal of a command: data goes to stdout; progress, questions and failures go to stderr. */
export class Screen extends Context.Tag("berth/cli/Screen")<Screen, {
  readonly out: Surface
  readonly err: Surface
  /** True if questions can be answered. */
  readonly canAsk: boolean
  /** True if lines can be redrawn in place on stderr. */
  readonly canRedraw: boolean
  /** Writes lines to stdout. */
  readonly print: (text: string) => Effect.Effect<void>
  /** Writes lines to stderr, wrapped on a terminal. */
  readonly say: (text: string) => Effect.Effect<void>
  /** Replaces the live lines at the bottom of stderr; an empty list removes them. */
  readonly show: (lines: ReadonlyArray<string>) => Effect.Effect<void>
  /** Asks a yes-or-no question; anything but `y` or `yes` is a no. */
  readonly ask: (question: string) => Effect.Effect<boolean>
}>() {}
