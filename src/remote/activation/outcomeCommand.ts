import { Data, Option } from "effect"
import { makeLineLimit } from "../../services/ssh/AnswerLimit.ts"
import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { type ContainerState, parseInspect } from "../stack/inspectCommand.ts"
import { script } from "./outcome.sh.ts"

/** Outcome of the last activation of a remote path. */
export type ActivationOutcome = Data.TaggedEnum<{
  /** It began, and its end was not noted: the server was switched off, for instance. */
  Begun: { readonly run: string }
  Started: {
    readonly run: string
    readonly containers: ReadonlyArray<ContainerState>
    /** Release that was recorded. */
    readonly release: Option.Option<string>
    /** The release that ran before, where one did. */
    readonly before: Option.Option<string>
  }
  /** It brought the release before back, since the new version did not get healthy. */
  Undone: { readonly run: string; readonly containers: ReadonlyArray<ContainerState> }
  /** The release before was to be brought back, since the new version did not get healthy, and did not start. */
  Stays: { readonly run: string; readonly isRestored: boolean; readonly words: string }
  Failed: {
    readonly run: string
    readonly step: string
    readonly isRestored: boolean
    readonly wasRunning: boolean
    /** Output of the failed command; empty if unknown. */
    readonly words: string
  }
}>
export const ActivationOutcome = Data.taggedEnum<ActivationOutcome>()

/** Asks what became of the last activation of a remote path, once none is under way. */
export const outcomeCommand = (remotePath: string, sudo: boolean): RemoteCommand => ({
  what: "asking what became of the deploy",
  script,
  args: [remotePath],
  sudo,
  // The state of a container holds what its last health checks printed.
  limit: makeLineLimit(8, 100_000)
})

/** Reads the answer of `outcomeCommand`; nothing when no activation was noted there. */
export const parseOutcome = (output: string): Option.Option<ActivationOutcome> => {
  const [first = "", ...rest] = output.split("\n")
  const [label, run = "", state, step = "", restored, before] = first.split("\t", 6)
  if (label !== "run" || run === "") return Option.none()
  const containers = parseInspect(rest.join("\n"))
  const words = rest.flatMap((line) => line.startsWith("said\t") ? [line.slice("said\t".length)] : []).join("\n").trim()
  const given = (value: string | undefined) => Option.filter(Option.fromNullable(value), (text) => text !== "")
  switch (state) {
    case "started":
      return Option.some(
        ActivationOutcome.Started({ run, containers, release: given(step), before: given(restored) })
      )
    case "undone":
      return Option.some(ActivationOutcome.Undone({ run, containers }))
    case "stays":
      return Option.some(ActivationOutcome.Stays({ run, isRestored: restored === "yes", words }))
    case "failed":
      return Option.some(
        ActivationOutcome.Failed({ run, step, isRestored: restored === "yes", wasRunning: before !== "nothing", words })
      )
    default:
      return Option.some(ActivationOutcome.Begun({ run }))
  }
}
