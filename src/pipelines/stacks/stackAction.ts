import { Effect } from "effect"
import type { DeployLocked } from "../../schema/Deploy.ts"
import { remotePathIn, type RemotePathInvalid } from "../../schema/RemotePath.ts"
import type { RunFailure } from "../../schema/Run.ts"
import type { ServerAccess, ServerNotFound } from "../../schema/Server.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import type { RemoteCommandFailed, SshError } from "../../schema/Ssh.ts"
import {
  type StackAction,
  StackFailed,
  StackMissing,
  type StackRemoval,
  type StackRequest,
  StackResult
} from "../../schema/Stack.ts"
import { deployLock, remotePathLock } from "../../services/locks/LockKey.ts"
import { type FileLocked, Locks } from "../../services/locks/Locks.ts"
import type { Instance } from "../../services/runs/Instance.ts"
import { Runs } from "../../services/runs/Runs.ts"
import { step, uncancellable } from "../../services/runs/Steps.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { Ssh } from "../../services/ssh/Ssh.ts"
import { acquireDeployLock } from "../deploy/acquireDeployLock.ts"
import { awaitHealth } from "../deploy/awaitHealth.ts"
import { serverWords } from "../remote/execute.ts"
import { parseStack, type StackAnswer, stackCommand } from "../remote/stack.ts"
import { dockerHelp } from "../servers/dockerHelp.ts"
import { describeRemoval, describeRunning } from "./describe.ts"

/** Pulling images, and stopping what takes its time, are silent for as long as they take. */
const timeout = "30 minutes"

interface Stack {
  readonly server: ServerAccess
  readonly remotePath: string
}

/** Asks a server about a stack, or to do something to it; fails where there is none, or where that was not done. */
const ask = ({ remotePath, server }: Stack, action: StackAction, isOnlyLook: boolean, volumes: boolean) =>
  Effect.gen(function*() {
    const command = stackCommand(isOnlyLook ? "look" : action, remotePath, server.useSudo, { volumes })
    const { code, stderr, stdout } = yield* (yield* Ssh).exec(server, command, { timeout })
    const answer = parseStack(stdout)
    if (code !== 0) {
      const reason = dockerHelp(serverWords(server, stderr), server)
      const state = isOnlyLook ? "Nothing was changed" : describeRunning(answer.containers)
      return yield* new StackFailed({ action, remotePath, server: server.name, reason, state })
    }
    const needsContainers = action === "stop" || action === "restart"
    if (answer.lacks === "stack" || (answer.lacks === "containers" && needsContainers)) {
      return yield* new StackMissing({ remotePath, server: server.name, isEmpty: answer.lacks === "containers" })
    }
    return answer
  })

/** How a stack stands that was started: until it is healthy, or the time for that is over. */
const healthOf = ({ remotePath, server }: Stack, { containers }: StackAnswer) =>
  Effect.gen(function*() {
    const settings = yield* Settings
    const pollOptions = {
      timeout: yield* settings.get("deploy.healthTimeout"),
      interval: yield* settings.get("deploy.healthInterval")
    }
    if (containers.length === 0) {
      return yield* new StackMissing({ remotePath, server: server.name, isEmpty: true })
    }
    const names = [...new Set(containers.map(({ service }) => service))]
    const services = names.map((name) => ({ name, builds: false, runs: true, envFiles: [] }))
    return yield* awaitHealth(server, services, containers, pollOptions)
  })

const done = { stop: "Stopped", start: "Started", restart: "Restarted", remove: "Removed" } as const

const carryOut = (stack: Stack, action: StackAction, volumes: boolean) =>
  Effect.gen(function*() {
    const { remotePath, server } = stack
    // Before the lock, which makes a directory where there is none.
    yield* step("preflight", ask(stack, action, true, volumes), () => "it is there")
    yield* acquireDeployLock(server, remotePath)
    const answer = yield* step(
      action,
      uncancellable(ask(stack, action, false, volumes)),
      ({ containers }) => action === "remove" ? "it is gone" : describeRunning(containers)
    )
    const what = `${done[action]} ${remotePath} on "${server.name}"`
    if (action === "remove") {
      return { success: true, status: "missing" as const, message: `${what}. ${describeRemoval(answer, volumes)}` }
    }
    if (action === "stop") {
      return { success: true, status: "exited" as const, message: `${what}. ${describeRunning(answer.containers)}.` }
    }
    const { complaints, status } = yield* step(
      "health",
      healthOf(stack, answer),
      ({ complaints, status }) => complaints === "" ? status : `${status}: ${complaints}`
    )
    const verdict = status === "healthy" ? "is healthy" : `is ${status}: ${complaints}`
    return { success: true, status, message: `${what}: the stack ${verdict}.` }
  }).pipe(Effect.scoped)

/**
 * Stops, starts, restarts or removes the stack at a remote path, under its deploy lock. A removal takes away what Berth
 * brought there, and never `data/`; the volumes go with it only where that is asked for.
 */
export const stackAction = Effect.fn("stackAction")(function*(
  action: StackAction,
  { remotePath, serverId, ...more }: StackRequest | StackRemoval
): Effect.fn.Return<
  StackResult,
  | DeployLocked
  | FileLocked
  | RemoteCommandFailed
  | RemotePathInvalid
  | RunFailure
  | ServerNotFound
  | SettingsError
  | SshError
  | StackFailed
  | StackMissing,
  Instance | Locks | Runs | Settings | Ssh
> {
  const locks = yield* Locks
  const server = yield* (yield* Settings).server(serverId)
  const path = yield* remotePathIn("remotePath", remotePath)
  const volumes = "volumes" in more && more.volumes === true
  return yield* (yield* Runs).run({
    kind: "stack",
    key: remotePathLock(server, path),
    subject: { serverId, remotePath: path, action },
    request: { action, remotePath, serverId, ...action === "remove" ? { volumes } : {} },
    result: StackResult,
    afterRestart: "give up"
  }, locks.withLock(deployLock(server))(carryOut({ server, remotePath: path }, action, volumes)))
})
