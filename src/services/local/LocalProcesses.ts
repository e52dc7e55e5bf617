import { Context, type Duration, type Effect, Schema } from "effect"

/** A program to run on this machine, without a shell. */
export interface LocalCommand {
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly cwd?: string
  /**
   * Environment variables to set. They replace all inherited variables that begin with `BERTH_`, which may be secrets.
   */
  readonly variables?: Readonly<Record<string, string>>
  /** A timeout ends the whole process group: TERM, then KILL five seconds later. */
  readonly timeout: Duration.DurationInput
  /** Maximum output in bytes; only the last bytes are returned. */
  readonly maxOutput: number
}

/** Exit of a program. `exitCode` is null after a signal; `output` interleaves both streams. */
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
   * Runs a program to its end; interruption ends its whole process group. `onOutput` receives output at most ten times
   * a second, with the number of lines dropped before it because output came too fast.
   */
  readonly run: (
    command: LocalCommand,
    onOutput?: (text: string, dropped: number) => Effect.Effect<void>
  ) => Effect.Effect<LocalExit, ProgramNotFound>
  /** Starts a program that outlives the call, such as an editor; returns once it is running. */
  readonly launch: (command: Pick<LocalCommand, "program" | "args">) => Effect.Effect<void, ProgramNotFound>
}>() {}
