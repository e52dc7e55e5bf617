import { Clock, Effect, Schema } from "effect"
import type { StackAnswer } from "../../remote/stack/stackCommand.ts"
import { type StackAction, StackFailed, StackResult } from "../../schema/deploy/Stack.ts"
import type { Run } from "../../schema/runs/Run.ts"
import { RunInterrupted } from "../../schema/runs/runFailures.ts"
import { makeRemotePathLock } from "../../services/locks/LockKey.ts"
import type { RunSpec } from "../../services/runs/Runs.ts"
import { executeStep } from "../../services/runs/Steps.ts"
import { describeHealth, toHealthOutcome } from "../activation/health/describeHealth.ts"
import { recoveryRetries } from "../activation/recoveryRetries.ts"
import { describeRunning, describeVolumes, doneWords } from "./describeStack.ts"
import { awaitStackHealth, runStackCommand, type Stack } from "./runStackCommand.ts"

/** Recorded request, which lets another process finish the run. */
export const StackRun = Schema.Struct({
  serverId: Schema.String,
  remotePath: Schema.String,
  action: Schema.Literal("stop", "start", "restart", "remove"),
  volumes: Schema.optionalWith(Schema.Boolean, { default: () => false })
})
export interface StackRun extends Schema.Schema.Type<typeof StackRun> {}

/** Specification of a stack action's run, apart from its program. */
export const buildStackSpec = (
  { remotePath, server }: Stack,
  request: StackRun
): RunSpec<StackResult, typeof StackResult.Encoded> => ({
  kind: "stack",
  key: makeRemotePathLock(server, remotePath),
  subject: { serverId: server.id, remotePath, action: request.action },
  request,
  result: StackResult,
  afterRestart: "reconcile"
})

const running = ({ containers }: StackAnswer) => containers.filter(({ status }) => status === "running")

/** True if the stack is in the target state of an action whose run began `millis` ago. */
const isDone = (action: StackAction, answer: StackAnswer, millis: number): boolean => {
  switch (action) {
    case "remove":
      return answer.lacks === "stack"
    case "stop":
      return running(answer).length === 0
    case "start":
      return running(answer).length > 0
    case "restart":
      return running(answer).length > 0 && running(answer).every(({ upMillis }) => upMillis <= millis)
  }
}

const again = { stop: "Stop", start: "Start", restart: "Restart", remove: "Remove" } as const

/** Recovers a stack action whose service ended: the server finishes it by itself, then its state is read. */
export const reconcileStack = Effect.fn("reconcileStack")(
  function*(stack: Stack, { action, volumes }: Pick<StackRun, "action" | "volumes">, left: Run) {
    const { remotePath, server } = stack
    const answer = yield* executeStep(
      "reconcile",
      Effect.retry(runStackCommand(stack, action, "settled"), {
        schedule: recoveryRetries,
        while: (error) => error._tag !== "StackMissing" && error._tag !== "StackFailed"
      }),
      ({ containers }) =>
        action === "remove" && containers.length === 0 ? "the stack is gone" : describeRunning(containers)
    ).pipe(Effect.mapError((error) => {
      if (error._tag === "StackMissing") return error
      const reason = error._tag === "StackFailed" ? error.reason : error.message
      const state = "What the server was told it finishes by itself: the list of its containers shows what runs"
      return new StackFailed({ action, remotePath, server: server.name, reason, state })
    }))
    const at = left.steps.find(({ status }) => status === "running")?.step ?? "its beginning"
    const interrupted = (state: string) =>
      new RunInterrupted({
        kind: "stack",
        step: at,
        resumes: false,
        state: `${state}. ${again[action]} it again where that is still wanted`
      })
    const millis = (yield* Clock.currentTimeMillis) - Date.parse(left.startedAt ?? left.requestedAt)
    if (!isDone(action, answer, millis)) {
      return yield* interrupted(describeRunning(answer.containers) || "It is still there, without containers")
    }
    const what = `${doneWords[action]} ${remotePath} on "${server.name}" while the service was started again`
    if (action === "remove") {
      return { success: true, status: "missing" as const, message: `${what}. ${describeVolumes(volumes)}.` }
    }
    if (action === "stop") {
      return { success: true, status: "exited" as const, message: `${what}. ${describeRunning(answer.containers)}.` }
    }
    const health = yield* executeStep(
      "health",
      awaitStackHealth(stack, answer),
      toHealthOutcome
    )
    // Containers may have been running before, so it is unknown if the start reached all of them.
    if (action === "start" && health.status !== "healthy") {
      return yield* interrupted(`The stack ${describeHealth(health)}`)
    }
    return { success: true, status: health.status, message: `${what}: the stack ${describeHealth(health)}.` }
  }
)
