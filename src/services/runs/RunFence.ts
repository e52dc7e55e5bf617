import { Schema } from "effect"

/** Owner's reference to a run: writes under an outdated `attempt` are refused. */
export interface RunFence {
  readonly id: string
  /** Fencing token. */
  readonly attempt: number
}

/** A write was refused: another process has taken the run over, or the run has ended. */
export class RunTakenOver extends Schema.TaggedError<RunTakenOver>()("RunTakenOver", { id: Schema.String }) {
  override get message() {
    return `The run ${this.id} was taken over by another process`
  }
}
