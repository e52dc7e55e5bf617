import { Array, Effect, Order } from "effect"
import {
  endExecCommand,
  execCommand,
  findContainersCommand,
  findShellCommand,
  parseFoundContainers,
  type StackContainer
} from "../remote/exec.ts"
import { type ExecOpened, ExecRefused, type ExecRequest } from "../schema/exec.ts"
import type { RequestedBy } from "../schema/runs.ts"
import type { ServerAccess } from "../schema/ssh.ts"
import { DockerUnusable, type Stack } from "../schema/stacks.ts"
import { cut, quoteInput, suggestNearest } from "../schema/words.ts"
import { mayExec } from "../services/access/Caller.ts"
import { Execs, markLength, type OpenExec } from "../services/exec.ts"
import { scrubText } from "../services/masking.ts"
import { RunRecords } from "../services/runs/store.ts"
import { secretsInUse } from "../services/settings/Settings.ts"
import { makeMark, renderCommand } from "../services/ssh/loginShell.ts"
import { execute, type RemoteCommand } from "../services/ssh/Ssh.ts"
import { resolveStack } from "./projects/places.ts"
import { describeDockerRefusal } from "./servers/servers.ts"

const refuse = (status: ExecRefused["status"], reason: string) => new ExecRefused({ status, reason })

const ask = (server: ServerAccess, command: RemoteCommand) =>
  execute(server, command).pipe(
    Effect.map(({ stdout }) => stdout),
    Effect.catchTag("RemoteCommandFailed", ({ message }) =>
      new DockerUnusable({ reason: describeDockerRefusal(message, server) }))
  )

/** Selects the requested service. */
const serviceOf = (containers: ReadonlyArray<StackContainer>, wanted: string | undefined, where: string) => {
  const services = Array.dedupe(containers.map(({ service }) => service))
  const [only, ...others] = services
  if (only === undefined) return refuse(404, `There are no containers at ${where}: deploy the project first`)
  const names = services.toSorted().slice(0, 20).join(", ")
  if (wanted === undefined) {
    return others.length === 0
      ? Effect.succeed(only)
      : refuse(422, `The stack at ${where} has several services: name one of ${names}`)
  }
  return services.includes(wanted) ? Effect.succeed(wanted) : refuse(
    404,
    `The stack at ${where} has no service ${quoteInput(wanted)}.${
      suggestNearest(wanted, services) || ` Its services: ${names}`
    }`
  )
}

const byNumber = Order.mapInput(Order.number, ({ number }: StackContainer) => number)

/** Finds the running container of a service by the labels of Compose; the first one if there are several. */
export const findContainer = Effect.fn("findContainer")(function*(
  { remotePath, server }: Stack,
  wanted: string | undefined
) {
  const where = `${cut(remotePath)} on "${server.name}"`
  const found = parseFoundContainers(yield* ask(server, findContainersCommand(remotePath, server.useSudo)))
  if (found === undefined) return yield* refuse(404, `There is no stack at ${where}: deploy the project first`)
  const service = yield* serviceOf(found, wanted, where)
  const all = Array.sort(found.filter((container) => container.service === service), byNumber)
  const running = all.find(({ state }) => state === "running")
  if (running !== undefined) return running
  const states = all.map(({ name, state }) => `${name} is ${state}`).join(", ")
  return yield* refuse(
    409,
    `${quoteInput(service)} has no running container at ${where}: ${states}. Start the stack first`
  )
})

/** Finds the shell of a container. */
export const findShell = Effect.fn("findShell")(function*(server: ServerAccess, container: StackContainer) {
  const shell = (yield* ask(server, findShellCommand(container, server.useSudo))).trim()
  if (shell === "bash" || shell === "sh") return shell
  return yield* refuse(
    422,
    `${container.name} has no shell: its image holds neither bash nor sh. Run one of its own programs: berth exec … -- PROGRAM`
  )
})

/** A running command in a container, until the scope closes. */
export interface StartedExec {
  readonly opened: ExecOpened
  readonly events: OpenExec["events"]
}

/**
 * Runs a command in a container of a stack, or a shell if none is given. Records user, container and command in the
 * history before the start, never input or output.
 */
export const openExec = Effect.fn("openExec")(function*(
  serverId: string,
  { command, remotePath: path, service: wanted, terminal }: ExecRequest,
  requestedBy: RequestedBy
) {
  if (!mayExec(requestedBy.door)) {
    return yield* new ExecRefused({
      status: 403,
      reason: "Agents may not run commands in containers. Nothing was started: a person can, with berth exec"
    })
  }
  const stack = yield* resolveStack({ remotePath: path, serverId })
  const { remotePath, server } = stack
  const container = yield* findContainer(stack, wanted)
  const words = command ?? [yield* findShell(server, container)]
  const execute = (mark: string) => execCommand(container, mark, words, { sudo: server.useSudo, terminal })
  // Rendered first, so that a command that cannot be sent is not recorded in the history.
  yield* renderCommand(execute("0".repeat(markLength)), makeMark())
  const secrets = yield* secretsInUse
  const told = words.map((word) => scrubText(word, secrets))
  yield* (yield* RunRecords).add({
    kind: "exec",
    requestedBy,
    subject: {
      serverId: server.id,
      serverName: server.name,
      remotePath,
      container: container.name,
      command: told
    },
    step: {
      name: "start",
      detail: `${quoteInput(told.join(" "))} in ${container.name}${terminal === undefined ? "" : ", on a terminal"}`
    }
  })
  const { events, id } = yield* (yield* Execs).open(requestedBy.name, server, (mark) => ({
    start: execute(mark),
    end: endExecCommand(mark, server.useSudo)
  }))
  const opened: ExecOpened = { exec: id, container: container.name, service: container.service, command: words }
  return { opened, events } satisfies StartedExec
})
