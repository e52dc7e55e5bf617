import { Data, Option } from "effect"
import { makeLineLimit } from "../../services/ssh/AnswerLimit.ts"
import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { type ContainerState, parseInspect } from "../stack/inspectCommand.ts"
import { script } from "./outcome.sh.ts"

/** Outcome of the last activation of a remote path. */
export type ActivationOutcome = Data.TaggedEnum<{
  /** It began, but its end was not recorded, for example because the server was switched off. */
  Begun: { readonly run: string }
  Started: {
    readonly run: string
    readonly containers: ReadonlyArray<ContainerState>
    /** Release that was recorded. */
    readonly release: Option.Option<string>
    /** The release that ran before, if there was one. */
    readonly before: Option.Option<string>
  }
  /** The previous release is running again, since the new version did not get healthy. */
  Undone: { readonly run: string; readonly containers: ReadonlyArray<ContainerState> }
  /** The new version did not get healthy, and the previous release did not start again. */
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

/** Reads the outcome of the last activation of a remote path, once none is running. */
export const outcomeCommand = (remotePath: string, sudo: boolean): RemoteCommand => ({
  what: "asking what became of the deploy",
  script,
  args: [remotePath],
  sudo,
  // A container's state includes the output of its last health checks.
  limit: makeLineLimit(8, 100_000)
})

/** Parses the answer of `outcomeCommand`; none if no activation was recorded there. */
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
