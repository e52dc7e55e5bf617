import { Effect } from "effect"
import { parseComposeError } from "../../remote/activation/parseComposeError.ts"
import { scrubServerOutput } from "../../remote/execute.ts"
import { parseStack, type StackAnswer, stackCommand } from "../../remote/stack/stackCommand.ts"
import { type StackAction, StackFailed, StackMissing } from "../../schema/deploy/Stack.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import { Ssh } from "../../services/ssh/Ssh.ts"
import { awaitHealth } from "../activation/health/awaitHealth.ts"
import { readCurrentHealthOptions } from "../activation/readCurrentHealthOptions.ts"
import { describeDockerRefusal } from "../servers/describeDockerRefusal.ts"
import { describeRunning } from "./describeStack.ts"

/** Pulling images and stopping slow containers print nothing until they are done. */
const timeout = "30 minutes"

/** A stack on a server. */
export interface Stack {
  readonly server: ServerAccess
  readonly remotePath: string
}

/**
 * Runs an action on a stack, or inspects it before the action or after its end. Fails if there is no stack or the
 * command failed.
 */
export const runStackCommand = (
  { remotePath, server }: Stack,
  action: StackAction,
  what: "do" | "look" | "settled",
  volumes = false
) =>
  Effect.gen(function*() {
    const command = stackCommand(what === "do" ? action : what, remotePath, server.useSudo, { volumes })
    const { code, stderr, stdout } = yield* (yield* Ssh).exec(server, command, { timeout })
    const answer = parseStack(stdout)
    if (code !== 0) {
      const reason = describeDockerRefusal(scrubServerOutput(server, parseComposeError(stderr)), server)
      const state = what === "look" ? "Nothing was changed" : describeRunning(answer.containers)
      return yield* new StackFailed({ action, remotePath, server: server.name, reason, state })
    }
    if (what === "settled" && action === "remove") return answer
    const needsContainers = action === "stop" || action === "restart"
    if (answer.lacks === "stack" || (answer.lacks === "containers" && needsContainers)) {
      return yield* new StackMissing({ remotePath, server: server.name, isEmpty: answer.lacks === "containers" })
    }
    return answer
  })

/** Waits until a started stack is healthy, or the timeout of its release has passed. */
export const awaitStackHealth = ({ remotePath, server }: Stack, { containers }: StackAnswer) =>
  Effect.gen(function*() {
    if (containers.length === 0) {
      return yield* new StackMissing({ remotePath, server: server.name, isEmpty: true })
    }
    const names = [...new Set(containers.map(({ service }) => service))]
    const services = names.map((name) => ({ name, builds: false, runs: true, envFiles: [] }))
    return yield* awaitHealth(server, services, containers, yield* readCurrentHealthOptions(server, remotePath))
  })
