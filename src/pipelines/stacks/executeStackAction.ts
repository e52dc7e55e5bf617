import { Effect } from "effect"
import type { DeployLocked } from "../../schema/deploy/Deploy.ts"
import type {
  StackAction,
  StackFailed,
  StackMissing,
  StackRemoval,
  StackRequest,
  StackResult
} from "../../schema/deploy/Stack.ts"
import type { RunFailure } from "../../schema/runs/runFailures.ts"
import type { RemoteCommandFailed, SshError } from "../../schema/servers/Ssh.ts"
import type { FileLocked, Locks } from "../../services/locks/Locks.ts"
import type { Instance } from "../../services/runs/Instance.ts"
import { Runs } from "../../services/runs/Runs.ts"
import { executeStep } from "../../services/runs/Steps.ts"
import { uncancellable } from "../../services/runs/uncancellable.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { acquireDeployLock } from "../activation/acquireDeployLock.ts"
import { describeHealth, toHealthOutcome } from "../activation/health/describeHealth.ts"
import { limitConcurrentDeploys } from "../activation/limitConcurrentDeploys.ts"
import { resolveStackToChange, type StackRefused } from "../servers/resolveStack.ts"
import { describeRemoval, describeRunning, doneWords } from "./describeStack.ts"
import { buildStackSpec } from "./reconcileStack.ts"
import { awaitStackHealth, runStackCommand, type Stack } from "./runStackCommand.ts"

const carryOut = (stack: Stack, action: StackAction, volumes: boolean) =>
  Effect.gen(function*() {
    const { remotePath, server } = stack
    // Checked before the lock, because locking creates a missing directory.
    yield* executeStep("preflight", runStackCommand(stack, action, "look"), () => "the stack is there")
    yield* acquireDeployLock(server, remotePath)
    const answer = yield* uncancellable(executeStep(
      action,
      runStackCommand(stack, action, "do", volumes),
      ({ containers }) => action === "remove" ? "the stack is gone" : describeRunning(containers)
    ))
    const what = `${doneWords[action]} ${remotePath} on "${server.name}"`
    if (action === "remove") {
      return { success: true, status: "missing" as const, message: `${what}. ${describeRemoval(answer, volumes)}` }
    }
    if (action === "stop") {
      return { success: true, status: "exited" as const, message: `${what}. ${describeRunning(answer.containers)}.` }
    }
    const health = yield* executeStep(
      "health",
      awaitStackHealth(stack, answer),
      toHealthOutcome
    )
    return { success: true, status: health.status, message: `${what}: the stack ${describeHealth(health)}.` }
  }).pipe(Effect.scoped)

/**
 * Stops, starts, restarts or removes the stack at a remote path, under its deploy lock. A removal deletes everything
 * that Berth brought there, never `data/`, and volumes only on request.
 */
export const executeStackAction = Effect.fn("executeStackAction")(function*(
  action: StackAction,
  { remotePath, serverId, ...more }: StackRequest | StackRemoval
): Effect.fn.Return<
  StackResult,
  DeployLocked | FileLocked | RemoteCommandFailed | RunFailure | SshError | StackFailed | StackMissing | StackRefused,
  Instance | Locks | Runs | Settings | Ssh
> {
  const stack = yield* resolveStackToChange({ remotePath, serverId })
  const volumes = "volumes" in more && more.volumes === true
  return yield* (yield* Runs).run(
    buildStackSpec(stack, { action, remotePath, serverId: stack.server.id, volumes }),
    limitConcurrentDeploys(stack.server)(carryOut(stack, action, volumes))
  )
})
