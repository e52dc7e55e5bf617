import { Context, Schema } from "effect"
import type { Duration, Effect } from "effect"

/** A program to run on this machine: never a shell line. */
export interface LocalCommand {
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly cwd?: string
  /** When it is over, the whole process group is ended: TERM, then KILL five seconds later. */
  readonly timeout: Duration.DurationInput
  /** How many bytes of output are kept, the last ones. */
  readonly maxOutput: number
}

/** How a program ended. `exitCode` is null when it was killed; `output` holds both streams in the order they came. */
export interface LocalExit {
  readonly exitCode: number | null
  readonly timedOut: boolean
  readonly output: string
}

/** The program is not installed, or not on the PATH. */
export class ProgramNotFound extends Schema.TaggedError<ProgramNotFound>()("ProgramNotFound", {
  program: Schema.String,
  help: Schema.String
}) {
  readonly status = 500
  override get message() {
    return `Cannot run ${this.program}: ${this.help}`
  }
}

/** Programs of the machine that Berth runs on. */
export class LocalProcesses extends Context.Tag("berth/LocalProcesses")<LocalProcesses, {
  /**
   * Runs a program to its end; interruption ends its whole process group too. `onOutput` is told what it writes, ten
   * times a second at most, and how many lines were dropped before that because they came faster.
   */
  readonly run: (
    command: LocalCommand,
    onOutput?: (text: string, dropped: number) => Effect.Effect<void>
  ) => Effect.Effect<LocalExit, ProgramNotFound>
  /** Starts a program that outlives the call, an editor for instance; answers once it runs. */
  readonly launch: (command: Pick<LocalCommand, "program" | "args">) => Effect.Effect<void, ProgramNotFound>
}>() {}
