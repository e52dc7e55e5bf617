import { Schema } from "effect"
import { OnUnhealthy, PullPolicy } from "../../schema/deploy/Deploy.ts"
import { TargetsResult } from "../../schema/targets/Targets.ts"
import { makeTargetsLock } from "../../services/locks/LockKey.ts"
import type { RunSpec } from "../../services/runs/Runs.ts"

/** Recorded request, which lets another process continue the run even if `container.json` has changed since. */
export const TargetsRun = Schema.Struct({
  projectPath: Schema.String,
  targets: Schema.Array(Schema.Struct({
    server: Schema.String,
    serverId: Schema.String,
    remotePath: Schema.String,
    planHash: Schema.NullOr(Schema.String)
  })),
  parallel: Schema.Boolean,
  pull: Schema.NullOr(PullPolicy),
  onUnhealthy: Schema.NullOr(OnUnhealthy)
})
export interface TargetsRun extends Schema.Schema.Type<typeof TargetsRun> {}
export type RunTarget = TargetsRun["targets"][number]

/** Specification of the run of a deploy to several targets, apart from its program. */
export const buildTargetsSpec = (request: TargetsRun): RunSpec<TargetsResult, typeof TargetsResult.Encoded> => ({
  kind: "deploy-all",
  key: makeTargetsLock(request.projectPath),
  subject: { projectPath: request.projectPath },
  request,
  result: TargetsResult,
  afterRestart: "resume"
})

/** Labels of targets in steps and sentences: the server, with the directory if it has several targets. */
export const formatTargetLabels = (
  targets: ReadonlyArray<Pick<RunTarget, "remotePath" | "server" | "serverId">>
): ReadonlyArray<string> =>
  targets.map(({ remotePath, server, serverId }) =>
    targets.filter((other) => other.serverId === serverId).length > 1 ? `${server} ${remotePath}` : server
  )
