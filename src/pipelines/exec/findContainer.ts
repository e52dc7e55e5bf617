import { Array, Effect, Order } from "effect"
import { findShellCommand } from "../../remote/exec/execCommand.ts"
import {
  findContainersCommand,
  parseFoundContainers,
  type StackContainer
} from "../../remote/exec/findContainersCommand.ts"
import { execute } from "../../remote/execute.ts"
import { DockerUnusable } from "../../schema/servers/Container.ts"
import { ExecRefused } from "../../schema/servers/Exec.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import { suggestNearest } from "../../schema/words/nearest.ts"
import { cut, quoteInput } from "../../schema/words/quoted.ts"
import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { describeDockerRefusal } from "../servers/describeDockerRefusal.ts"

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
  server: ServerAccess,
  remotePath: string,
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
