import type { Path } from "@effect/platform"
import { Clock, Effect, Schema } from "effect"
import { parseComposeError } from "../remote/activation.ts"
import {
  type ContainerState,
  parseRemovalPlan,
  parseStack,
  type Remains,
  type StackAnswer,
  stackCommand
} from "../remote/stack.ts"
import type { DeployLocked } from "../schema/deploys.ts"
import { withEnvironment } from "../schema/environments.ts"
import { type Run, RunInterrupted } from "../schema/runs.ts"
import type { RemoteCommandFailed, SshError } from "../schema/ssh.ts"
import {
  describeStack,
  type Stack,
  type StackAction,
  StackFailed,
  StackMissing,
  type StackRemains,
  type StackRemoval,
  type StackRemovalPlan,
  type StackRequest,
  StackResult
} from "../schema/stacks.ts"
import { cut, pluralize } from "../schema/words.ts"
import type { LocalFiles } from "../services/local/LocalFiles.ts"
import { type FileLocked, type Locks, makeRemotePathLock } from "../services/locks/Locks.ts"
import { type Instance, type RunFailure, Runs, type RunSpec } from "../services/runs/Runs.ts"
import { executeStep, uncancellable } from "../services/runs/Steps.ts"
import { scrubSecrets, type Settings } from "../services/settings/Settings.ts"
import { scrubServerOutput, Ssh } from "../services/ssh/Ssh.ts"
import { acquireDeployLock, limitConcurrentDeploys } from "./activation/activate.ts"
import { awaitHealth, describeHealth, readCurrentHealthOptions, toHealthOutcome } from "./activation/health.ts"
import { recoveryRetries } from "./activation/recover.ts"
import { markFirst } from "./activation/unhealthy.ts"
import {
  describeEnvironment,
  type PlaceRefused,
  resolvePlaceToChange,
  resolveUnconfirmedPlace
} from "./projects/places.ts"
import { describeForeignContainers } from "./projects/stackNames.ts"
import { describeDockerRefusal } from "./servers/servers.ts"

const mostNamed = 10

const some = (names: ReadonlyArray<string>) =>
  names.slice(0, mostNamed).join(", ") + (names.length > mostNamed ? ` and ${names.length - mostNamed} more` : "")

/** Past participle of each action, as the beginning of a sentence. */
const doneWords = { stop: "Stopped", start: "Started", restart: "Restarted", remove: "Removed" } as const

/** Describes the number of running containers as a sentence without its full stop; empty without containers. */
const describeRunning = (containers: ReadonlyArray<ContainerState>): string => {
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

/** Describes the fate of a removed stack's volumes in sentences without their full stops. */
const describeVolumes = (
  asked: boolean,
  { foreign: [foreign], stays, volumes }: Pick<StackAnswer, "foreign" | "stays" | "volumes">
): ReadonlyArray<string> => {
  if (foreign !== undefined) {
    return [
      `Its volumes and data/ stay: the stack in ${
        cut(foreign.directory)
      } has the same name, and with it the same volumes`
    ]
  }
  const others = stays.some(({ kind }) => kind === "volume")
  if (!asked || (volumes.length === 0 && others)) return ["Its volumes and data/ stay"]
  if (volumes.length === 0) return ["It had no volumes; data/ stays"]
  return [`Volumes: ${some(volumes)}`, others ? "Its other volumes and data/ stay" : "data/ stays"]
}

/** Describes the things that a removal deleted and kept. */
export const describeRemoval = (
  answer: Pick<StackAnswer, "foreign" | "images" | "left" | "removed" | "stays" | "volumes">,
  volumes: boolean
): string =>
  [
    answer.removed.length === 0
      ? "No files were removed: none of them came from Berth"
      : `Files: ${some(answer.removed)}`,
    // Two releases may have used the same image name.
    ...answer.images.length === 0 ? [] : [`Images: ${some([...new Set(answer.images)])}`],
    ...answer.left.length === 0 ? [] : [`Could not be removed: ${some(answer.left)}`],
    ...describeVolumes(volumes, answer)
  ].map((sentence) => `${sentence}.`).join(" ")

const describeReason = ({ by, kind, reason }: Remains): string => {
  switch (reason) {
    case "data":
      return "data/ is never removed"
    case "root":
      return "Berth did not bring it, and it belongs to root"
    case "denied":
      return "Berth brought it, and the user of the server may not write to its directory"
    case "named":
      return by.startsWith("berth/release:") ? "a release in another directory has it" : `it also has the name ${by}`
    case "used":
      return `the container ${by} uses it`
    case "unasked":
      return "volumes stay unless their removal is asked for"
    case "kept":
      return "Docker kept it"
    case "shared":
      return "a stack of the same name in another directory has the same volumes"
    case "unnamed":
      return "the compose file does not name it"
    case "oneoff":
      return "it is a one-off container, and Compose cannot take this stack down"
    default:
      return kind === "image"
        ? "Berth did not bring it"
        : "Berth did not bring it, or no release that is kept has it in its files"
  }
}

const describeRemains = (remains: ReadonlyArray<Remains>): ReadonlyArray<StackRemains> =>
  remains.map((each) => ({ kind: each.kind, name: each.name, because: describeReason(each) }))

// The result of a run is stored.
const mostRemains = 50

/** Pulling images and stopping slow containers print nothing until they are done. */
const timeout = "30 minutes"

/**
 * Runs an action on a stack, or inspects it before the action or after its end. Fails if there is no stack or the
 * command failed.
 */
const runStackCommand = (
  { remotePath, server }: Stack,
  action: StackAction,
  what: "do" | "look" | "plan" | "settled",
  volumes = false
) =>
  Effect.gen(function*() {
    const command = stackCommand(what === "do" ? action : what, remotePath, server.useSudo, { volumes })
    const { code, stderr, stdout } = yield* (yield* Ssh).exec(server, command, { timeout })
    const answer = parseStack(stdout)
    if (code !== 0) {
      const reason = describeForeignContainers(answer.foreign, { remotePath, server: server.name }) ??
        describeDockerRefusal(scrubServerOutput(server, parseComposeError(stderr)), server)
      const state = what === "look" || what === "plan" ? "Nothing was changed" : describeRunning(answer.containers)
      return yield* new StackFailed({ action, remotePath, server: server.name, reason, state })
    }
    if (what === "settled" && action === "remove") return { ...answer, output: stdout }
    const needsContainers = action === "stop" || action === "restart"
    if (answer.lacks === "stack" || (answer.lacks === "containers" && needsContainers)) {
      return yield* new StackMissing({ remotePath, server: server.name, isEmpty: answer.lacks === "containers" })
    }
    return { ...answer, output: stdout }
  })

/**
 * Plans the removal of a stack: everything that it would remove and leave on the server. Changes nothing, and fails for a
 * directory without a stack as the removal does.
 */
export const planStackRemoval = Effect.fn("planStackRemoval")(function*(
  request: StackRemoval
): Effect.fn.Return<
  StackRemovalPlan,
  PlaceRefused | RemoteCommandFailed | SshError | StackFailed | StackMissing,
  LocalFiles | Path.Path | Settings | Ssh
> {
  const stack = yield* resolveUnconfirmedPlace(request)
  const { output } = yield* runStackCommand(stack, "remove", "plan", request.volumes === true)
  const { stays, ...lists } = parseRemovalPlan(yield* scrubSecrets(output))
  return {
    serverId: stack.server.id,
    remotePath: stack.remotePath,
    ...describeEnvironment(stack),
    ...lists,
    stays: describeRemains(stays)
  }
})

/** Waits until a started stack is healthy, or the timeout of its release has passed. */
const awaitStackHealth = (stack: Stack, { containers }: StackAnswer) =>
  Effect.gen(function*() {
    if (containers.length === 0) {
      return yield* new StackMissing({ remotePath: stack.remotePath, server: stack.server.name, isEmpty: true })
    }
    const names = [...new Set(containers.map(({ service }) => service))]
    const services = names.map((name) => ({ name, builds: false, runs: true, envFiles: [] }))
    return yield* awaitHealth(stack.server, services, containers, yield* readCurrentHealthOptions(stack))
  })

/** Step `health` of a start or restart, and the result with its outcome. */
const finishStart = (stack: Stack, answer: StackAnswer, what: string) =>
  Effect.gen(function*() {
    const health = yield* executeStep("health", awaitStackHealth(stack, answer), toHealthOutcome)
    const result = {
      success: true,
      status: health.status,
      message: `${what}: the stack ${describeHealth(health)}.`,
      ...health.status === "healthy" ? {} : yield* markFirst(stack)
    }
    return { health, result }
  })

/** Recorded request, which lets another process finish the run. */
export const StackRun = Schema.Struct({
  serverId: Schema.String,
  remotePath: Schema.String,
  action: Schema.Literal("stop", "start", "restart", "remove"),
  volumes: Schema.optionalWith(Schema.Boolean, { default: () => false }),
  environment: Schema.optional(Schema.String)
})
export interface StackRun extends Schema.Schema.Type<typeof StackRun> {}

/** Specification of a stack action's run, apart from its program. */
export const buildStackSpec = (
  stack: Stack,
  request: StackRun
): RunSpec<StackResult, typeof StackResult.Encoded> => ({
  kind: "stack",
  key: makeRemotePathLock(stack),
  subject: {
    serverId: stack.server.id,
    remotePath: stack.remotePath,
    action: request.action,
    ...withEnvironment(request)
  },
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
    const what = `${doneWords[action]} ${describeStack(stack)} while the service was started again`
    if (action === "remove") {
      const left = volumes
        ? "Its volumes were to go too: docker volume ls shows what is left of them. data/ stays"
        : "Its volumes and data/ stay"
      return { success: true, status: "missing" as const, message: `${what}. ${left}.` }
    }
    if (action === "stop") {
      return { success: true, status: "exited" as const, message: `${what}. ${describeRunning(answer.containers)}.` }
    }
    const { health, result } = yield* finishStart(stack, answer, what)
    // Containers may have been running before, so it is unknown if the start reached all of them.
    if (action === "start" && health.status !== "healthy") {
      return yield* interrupted(`The stack ${describeHealth(health)}`)
    }
    return result
  }
)

const carryOut = (stack: Stack, action: StackAction, volumes: boolean) =>
  Effect.gen(function*() {
    // Checked before the lock, because locking creates a missing directory.
    yield* executeStep("preflight", runStackCommand(stack, action, "look"), () => "the stack is there")
    yield* acquireDeployLock(stack)
    const answer = yield* uncancellable(executeStep(
      action,
      runStackCommand(stack, action, "do", volumes),
      ({ containers }) => action === "remove" ? "the stack is gone" : describeRunning(containers)
    ))
    const what = `${doneWords[action]} ${describeStack(stack)}`
    if (action === "remove") {
      const remains = parseStack(yield* scrubSecrets(answer.output)).stays.slice(0, mostRemains)
      return {
        success: true,
        status: "missing" as const,
        message: `${what}. ${describeRemoval(answer, volumes)}`,
        stays: describeRemains(remains)
      }
    }
    if (action === "stop") {
      return { success: true, status: "exited" as const, message: `${what}. ${describeRunning(answer.containers)}.` }
    }
    return (yield* finishStart(stack, answer, what)).result
  }).pipe(Effect.scoped)

/**
 * Stops, starts, restarts or removes the stack at a remote path, under its deploy lock. A removal deletes everything
 * that Berth brought there, never `data/`, and volumes only on request.
 */
export const executeStackAction = Effect.fn("executeStackAction")(function*(
  action: StackAction,
  request: StackRequest | StackRemoval
): Effect.fn.Return<
  StackResult,
  DeployLocked | FileLocked | PlaceRefused | RemoteCommandFailed | RunFailure | SshError | StackFailed | StackMissing,
  Instance | LocalFiles | Locks | Path.Path | Runs | Settings | Ssh
> {
  const stack = yield* resolvePlaceToChange(request)
  const { remotePath } = stack
  const volumes = "volumes" in request && request.volumes === true
  return yield* (yield* Runs).run(
    buildStackSpec(stack, {
      action,
      remotePath,
      serverId: stack.server.id,
      volumes,
      ...withEnvironment(stack)
    }),
    limitConcurrentDeploys(stack.server)(carryOut(stack, action, volumes))
  )
})
