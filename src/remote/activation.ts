import { Data, Option } from "effect"
import { makeLineLimit, type RemoteCommand } from "../services/ssh/Ssh.ts"
import { script as outcomeScript } from "./activation/outcome.sh.ts"
import { script as restageScript } from "./activation/restage.sh.ts"
import { type ContainerState, parseInspect } from "./stack.ts"

/** An image of the archive with one of its names, or with its id if it has none. */
export interface ArchiveName {
  readonly id: string
  readonly name: string
}

/** Source of the image, and its expected content. */
export interface ImageSource {
  /**
   * Loaded from the uploaded archive (`file`) or from the script's input: the whole archive (`whole`), a `part` of it,
   * or a part under temporary names of the run (`incoming`). Without a load, only names are set for images that the
   * server has (`names`), or there is no archive (`none`).
   */
  readonly from: "file" | "whole" | "part" | "incoming" | "names" | "none"
  /** Name of the archive, relative to the remote path. */
  readonly archive: string
  /** Platform that `docker load` verifies; empty if it does not. */
  readonly platform: string
  readonly names: ReadonlyArray<ArchiveName>
  /**
   * Format for `docker image inspect` on each name after the load, using the temporary names of incoming images;
   * `expected` is the sha256 of its output.
   */
  readonly format: string
  readonly expected: string
}

/** Names of files for compose, relative to the remote path: `.env` and the `env_file`s of the compose file. */
export interface EnvFileNames {
  /** Files of the project, recorded on the server for the next deploy. */
  readonly brought: ReadonlyArray<string>
  /** Files of an earlier deploy to remove; a failure restores them. */
  readonly gone: ReadonlyArray<string>
}

/** Copies the files of a release that differ from the current ones to the place for uploaded files. */
export const restageCommand = (remotePath: string, release: string): RemoteCommand => ({
  what: `taking the files of release ${release}`,
  script: restageScript,
  args: [remotePath, release],
  sudo: false
})

/** Parses the answer of `restageCommand`: the number of copied files. */
export const parseRestaged = (output: string): number => Number.parseInt(output.trim(), 10) || 0

const states =
  "Creat(?:ing|ed)|Recreated?|Start(?:ing|ed)|Stopp(?:ing|ed)|Remov(?:ing|ed)|Pull(?:ing|ed)|Buil(?:ding|t)|" +
  "Running|Waiting|Healthy|Exited|Skipped.*"

/**
 * Lines about progress and warnings, which the run already shows while compose writes them: compose 2 and later, then
 * 1.x.
 */
const remarks = [
  new RegExp(`^ \\S.* (?:${states})$`),
  /^time="[^"]*" level=(?:warning|info|debug) /,
  /^\S+ing \S+ +\.\.\.(?: *(?:done|error))?$/,
  /^(?:Creating|Removing) (?:network|volume) "/,
  /^WARNING: /,
  /^The \S+ variable is not set\. Defaulting to a blank string\.$/,
  /^Found orphan containers \(.*\) for this project\./,
  /^Encountered errors while bringing up the project\.$/
]

/** Docker-compose 1.x reports a failure for the container and again for its service. */
const forOne = /^ERROR: for \S+ {2}/

/** Extracts the reasons from the output of a failed compose; all of it if there are none. */
export const parseComposeError = (said: string): string => {
  const seen = new Set<string>()
  const reasons = said.split(/\r?\n/)
    .filter((line) => line.trim() !== "" && !remarks.some((remark) => remark.test(line.trimEnd())))
    .flatMap((line) => {
      const reason = line.replace(forOne, "").trimEnd()
      if (reason === line.trimEnd()) return [reason]
      const isNew = !seen.has(reason)
      seen.add(reason)
      return isNew ? [reason] : []
    })
  return reasons.length === 0 ? said.trim() : reasons.join("\n")
}

/** State before an activation; unknown if that could not be noted. */
export type RanBefore = "nothing" | "running" | "unknown"

// An outcome that an earlier version of Berth recorded lacks it: that one says "running" then.
export const parseRanBefore = (text: string | undefined): RanBefore =>
  text === "nothing" || text === "unknown" ? text : "running"

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
    readonly ranBefore: RanBefore
    /** Output of the failed command; empty if unknown. */
    readonly words: string
  }
}>
export const ActivationOutcome = Data.taggedEnum<ActivationOutcome>()

/** Reads the outcome of the last activation of a remote path, once none is running. */
export const outcomeCommand = (remotePath: string, sudo: boolean): RemoteCommand => ({
  what: "asking what became of the deploy",
  script: outcomeScript,
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
        ActivationOutcome.Failed({
          run,
          step,
          isRestored: restored === "yes",
          ranBefore: parseRanBefore(before),
          words
        })
      )
    default:
      return Option.some(ActivationOutcome.Begun({ run }))
  }
}
