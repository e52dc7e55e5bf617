import type { ContainerPlan } from "../../schema/deploy/ContainerPlan.ts"
import { countChanges } from "../../schema/deploy/plannedChanges.ts"
import { formatCount } from "../format/format.ts"

/** Standing of a project in a common deploy or restart of several projects. */
export interface BulkItem {
  /** `ready` is started; `planning` is awaited; `left out` is listed with its reason. */
  readonly standing: "ready" | "planning" | "left out"
  readonly words: string
}

/** Standing of a project to deploy, by its plan. */
export const buildDeployItem = (
  { data, error, isFetching }: {
    readonly data: ContainerPlan | undefined
    readonly error: Error | null
    readonly isFetching: boolean
  }
): BulkItem => {
  if (isFetching) return { standing: "planning", words: "is being planned …" }
  const blocked = error?.message ?? data?.obstacles[0]
  if (blocked !== undefined) return { standing: "left out", words: `is left out: ${blocked}` }
  if (data === undefined) return { standing: "left out", words: "is left out: it has no plan" }
  const count = countChanges(data)
  return {
    standing: "ready",
    words: count === 0 ? "nothing differs: the same stack is started again" : formatCount(count, "change")
  }
}

/** Standing of a project to restart. */
export const buildRestartItem = (isUp: boolean): BulkItem =>
  isUp
    ? { standing: "ready", words: "is restarted" }
    : { standing: "left out", words: "is left out: it does not run" }

/** Standing of a project with several targets: they are chosen on its own screen. */
export const severalTargetsItem: BulkItem = {
  standing: "left out",
  words: "is left out: it has several targets, and is deployed from its own screen"
}
