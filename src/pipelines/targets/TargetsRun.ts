import { Schema } from "effect"
import { OnUnhealthy, PullPolicy } from "../../schema/deploy/Deploy.ts"
import { TargetsResult } from "../../schema/targets/Targets.ts"
import { makeTargetsLock } from "../../services/locks/LockKey.ts"
import type { RunSpec } from "../../services/runs/Runs.ts"

/** Recorded request, from which another process can go on with the run: `container.json` may have changed since. */
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

/** The run of a deploy to several targets: what it is, beside its program. */
export const buildTargetsSpec = (request: TargetsRun): RunSpec<TargetsResult, typeof TargetsResult.Encoded> => ({
  kind: "deploy-all",
  key: makeTargetsLock(request.projectPath),
  subject: { projectPath: request.projectPath },
  request,
  result: TargetsResult,
  afterRestart: "resume"
})

/** Labels of targets in steps and sentences: the server, with the directory where several are on it. */
export const formatTargetLabels = (
  targets: ReadonlyArray<Pick<RunTarget, "remotePath" | "server" | "serverId">>
): ReadonlyArray<string> =>
  targets.map(({ remotePath, server, serverId }) =>
    targets.filter((other) => other.serverId === serverId).length > 1 ? `${server} ${remotePath}` : server
  )
