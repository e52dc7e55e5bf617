import { Clock, Effect, Schedule, Schema } from "effect"
import { type Run, RunInterrupted } from "../../schema/Run.ts"
import { type StackAction, StackFailed, StackResult } from "../../schema/Stack.ts"
import { remotePathLock } from "../../services/locks/LockKey.ts"
import type { RunSpec } from "../../services/runs/Runs.ts"
import { step } from "../../services/runs/Steps.ts"
import { healthOutcome, healthVerdict } from "../deploy/healthWords.ts"
import type { StackAnswer } from "../remote/stack.ts"
import { askStack, healthOfStack, type Stack } from "./askStack.ts"
import { describeRunning, describeVolumes, done } from "./describe.ts"

/** What was asked for: all that another process needs to come to its end. */
export const StackRun = Schema.Struct({
  serverId: Schema.String,
  remotePath: Schema.String,
  action: Schema.Literal("stop", "start", "restart", "remove"),
  volumes: Schema.optionalWith(Schema.Boolean, { default: () => false })
})
export interface StackRun extends Schema.Schema.Type<typeof StackRun> {}

/** The run of what is done to a stack: what it is, beside its program. */
export const stackSpec = (
  { remotePath, server }: Stack,
  request: StackRun
): RunSpec<StackResult, typeof StackResult.Encoded> => ({
  kind: "stack",
  key: remotePathLock(server, remotePath),
  subject: { serverId: server.id, remotePath, action: request.action },
  request,
  result: StackResult,
  afterRestart: "reconcile"
})

// A server that is being started again with this service is given a while.
const attempts = Schedule.spaced("5 seconds").pipe(Schedule.intersect(Schedule.recurs(12)))

const running = ({ containers }: StackAnswer) => containers.filter(({ status }) => status === "running")

/** Whether the containers stand as they do after this was done, in a run that began so many milliseconds ago. */
const stands = (action: StackAction, answer: StackAnswer, millis: number): boolean => {
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

/**
 * Comes to the end of what was done to a stack when its service ended: what the server was told it finishes by itself, so
 * it is asked what stands then.
 */
export const reconcileStack = Effect.fn("reconcileStack")(
  function*(stack: Stack, { action, volumes }: Pick<StackRun, "action" | "volumes">, left: Run) {
    const { remotePath, server } = stack
    const answer = yield* step(
      "reconcile",
      Effect.retry(askStack(stack, action, "settled"), {
        schedule: attempts,
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
    if (!stands(action, answer, millis)) {
      return yield* interrupted(describeRunning(answer.containers) || "It is still there, without containers")
    }
    const what = `${done[action]} ${remotePath} on "${server.name}" while the service was started again`
    if (action === "remove") {
      return { success: true, status: "missing" as const, message: `${what}. ${describeVolumes(volumes)}.` }
    }
    if (action === "stop") {
      return { success: true, status: "exited" as const, message: `${what}. ${describeRunning(answer.containers)}.` }
    }
    const health = yield* step(
      "health",
      healthOfStack(stack, answer),
      healthOutcome
    )
    // What runs may have run before: whether the rest was told to start nobody knows.
    if (action === "start" && health.status !== "healthy") {
      return yield* interrupted(`The stack ${healthVerdict(health)}`)
    }
    return { success: true, status: health.status, message: `${what}: the stack ${healthVerdict(health)}.` }
  }
)
