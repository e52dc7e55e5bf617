import type { ContainerState } from "../../remote/stack/inspectCommand.ts"
import type { StackAnswer } from "../../remote/stack/stackCommand.ts"
import { pluralize } from "../../schema/words/pluralize.ts"

const mostNamed = 10

const some = (names: ReadonlyArray<string>) =>
  names.slice(0, mostNamed).join(", ") + (names.length > mostNamed ? ` and ${names.length - mostNamed} more` : "")

/** Past participle of each action, as the beginning of a sentence. */
export const doneWords = { stop: "Stopped", start: "Started", restart: "Restarted", remove: "Removed" } as const

/** Describes the number of running containers as a sentence without its full stop; empty without containers. */
export const describeRunning = (containers: ReadonlyArray<ContainerState>): string => {
  if (containers.length === 0) return ""
  const running = containers.filter(({ status }) => status === "running" || status === "restarting").length
  if (containers.length === 1) return running === 1 ? "Its container runs now" : "Its container does not run now"
  const all = pluralize(containers.length, "container")
  return running === 0
    ? `None of its ${all} runs now`
    : running === containers.length
    ? `All of its ${all} run now`
    : `${running} of its ${all} run now`
}

/** Describes the handling of a removed stack's volumes as a sentence without its full stop. */
export const describeVolumes = (volumes: boolean): string =>
  volumes ? "Its volumes went with it; data/ stays" : "Its volumes and data/ stay"

/** Describes the things that a removal deleted and kept. */
export const describeRemoval = ({ images, left, removed }: StackAnswer, volumes: boolean): string =>
  [
    removed.length === 0 ? "No files were removed: none of them came from Berth" : `Files: ${some(removed)}`,
    // Two releases may have used the same image name.
    ...images.length === 0 ? [] : [`Images: ${some([...new Set(images)])}`],
    ...left.length === 0 ? [] : [`Could not be removed: ${some(left)}`],
    describeVolumes(volumes)
  ].map((sentence) => `${sentence}.`).join(" ")
