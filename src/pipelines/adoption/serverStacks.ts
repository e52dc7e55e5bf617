import { Array, Effect, Option } from "effect"
import {
  type ComposedContainer,
  type ComposedContainers,
  composedContainersCommand,
  directoriesCommand,
  parseComposedContainers,
  parseDirectories
} from "../../remote/adoption.ts"
import { parseScan, scanCommand } from "../../remote/server.ts"
import type { ServerUnresolved } from "../../schema/servers.ts"
import type { ServerAccess } from "../../schema/ssh.ts"
import {
  type DeployedProject,
  DockerUnusable,
  ScanFailed,
  type ServerStack,
  type Stack,
  StackNotAdoptable,
  StackUnknown
} from "../../schema/stacks.ts"
import { listDeployPlaces } from "../../schema/targets.ts"
import { formatList, mask, quoteInput } from "../../schema/words.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { execute, Ssh } from "../../services/ssh/Ssh.ts"
import { listProjects } from "../projects/projects.ts"
import { redactCompose } from "../projects/redactCompose.ts"
import { describeDockerRefusal, findServerOrFail } from "../servers/servers.ts"

// Compose projects of a server, wherever they lie. The directory that compose notes on its containers tells them apart, as
// several may have the same name.

/** A compose project on a server. */
export interface FoundStack {
  readonly name: string
  /** Absolute directory, as compose notes it. */
  readonly directory: string
  readonly remotePath: string
  readonly containers: ReadonlyArray<ComposedContainer>
}

const readComposedContainers = (server: ServerAccess) =>
  Effect.gen(function*() {
    const { code, stderr, stdout } = yield* (yield* Ssh).exec(server, composedContainersCommand(server.useSudo))
    return code === 0
      ? parseComposedContainers(stdout)
      : yield* new DockerUnusable({ reason: describeDockerRefusal(stderr.trim(), server) })
  })

/** Remote path of an absolute directory: below the home where it is there. */
const shortenDirectory = (directory: string, homes: ReadonlyArray<string>): string => {
  const home = homes.find((each) => directory.startsWith(`${each}/`))
  return home === undefined ? directory : `~/${directory.slice(home.length + 1)}`
}

const compareText = (one: string, other: string) => one < other ? -1 : one > other ? 1 : 0

/** Groups containers into stacks, sorted by directory: two projects of one name in two directories are two stacks. */
export const groupStacks = ({ containers, homes }: ComposedContainers): ReadonlyArray<FoundStack> =>
  Object.values(Array.groupBy(containers, ({ directory, project }) => JSON.stringify([directory, project])))
    .map((all) => ({
      name: all[0].project,
      directory: all[0].directory,
      remotePath: shortenDirectory(all[0].directory, homes),
      containers: all
    }))
    .toSorted((one, other) => compareText(one.directory, other.directory) || compareText(one.name, other.name))

const readDirectories = (server: ServerAccess, paths: ReadonlyArray<string>) =>
  Effect.map(
    execute(server, directoriesCommand(paths, server.useSudo)),
    ({ stdout }) => parseDirectories(stdout, paths)
  )

/** Local projects by the remote paths that they are deployed to on a server. */
const listOwners = (server: ServerAccess) =>
  Effect.map(
    Effect.orElseSucceed(listProjects(), () => []),
    (projects) =>
      projects.flatMap((project) =>
        listDeployPlaces(project).flatMap(({ remotePath, serverId }) =>
          serverId === server.id ? [{ remotePath, project: project.path }] : []
        )
      )
  )

/** Lists every compose project of a server, with the local project that is deployed there. */
export const listServerStacks = Effect.fn("listServerStacks")(function*(serverId: string) {
  const server = yield* (yield* Settings).server(serverId)
  const stacks = groupStacks(yield* readComposedContainers(server))
  const owners = yield* listOwners(server)
  const paths = [
    ...new Set([...stacks, ...owners].flatMap((each) => "directory" in each ? [each.directory] : [each.remotePath]))
  ]
  const directories = yield* readDirectories(server, paths)
  const ownerOf = ({ directory, remotePath }: FoundStack) => {
    const real = directories.get(directory)?.real
    return owners.find((owner) =>
      owner.remotePath === directory || owner.remotePath === remotePath ||
      (real !== undefined && directories.get(owner.remotePath)?.real === real)
    )
  }
  return stacks.map((stack): ServerStack => ({
    name: stack.name,
    directory: stack.directory,
    remotePath: stack.remotePath,
    exists: directories.has(stack.directory),
    services: [...new Set(stack.containers.map(({ service }) => service))].sort(),
    containers: stack.containers.length,
    running: stack.containers.filter(({ isRunning }) => isRunning).length,
    project: ownerOf(stack)?.project ?? null
  }))
})

/** A stack that can be adopted: its directory exists, and the SSH user may write to it. */
export interface AdoptableStack extends FoundStack, Stack {}

/** Name of a compose project that every version of compose accepts after `-p`. */
const isProjectName = (name: string) => /^[a-z0-9][a-z0-9_-]{0,127}$/.test(name)

/** Finds the stack of a directory, by that alone; fails where Berth could not deploy to it. */
export const findAdoptableStack = Effect.fn("findAdoptableStack")(function*({ remotePath, server }: Stack) {
  const refuse = (reason: string) => new StackNotAdoptable({ remotePath, server: server.name, reason })
  const stacks = groupStacks(yield* readComposedContainers(server))
  const directories = yield* readDirectories(server, [
    ...new Set([remotePath, ...stacks.map(({ directory }) => directory)])
  ])
  const asked = directories.get(remotePath)
  const found = stacks.filter((stack) =>
    stack.remotePath === remotePath || stack.directory === remotePath ||
    (asked !== undefined && directories.get(stack.directory)?.real === asked.real)
  )
  const [stack, ...others] = found
  if (stack === undefined) {
    return yield* new StackUnknown({ remotePath, server: server.name, known: stacks.map((each) => each.remotePath) })
  }
  if (others.length > 0) {
    return yield* refuse(
      `${found.length} compose projects run from there, ${
        formatList(found.map(({ name }) => quoteInput(name)), "and")
      }: ` +
        "a directory has one stack, so move the others to directories of their own"
    )
  }
  const directory = directories.get(stack.directory)
  if (directory === undefined) {
    return yield* refuse("its directory does not exist any more, so that it has no files: put them back there")
  }
  if (directory.real !== stack.directory) {
    return yield* refuse(
      `it was started in ${quoteInput(stack.directory)}, which is a link to ${
        quoteInput(directory.real)
      }: start it again ` +
        "from there with docker compose up -d, which recreates nothing"
    )
  }
  if (!directory.isWritable) {
    return yield* refuse(
      `the SSH user ${server.username} may not write to its directory, where a deploy puts its files: give it the ` +
        `directory, with sudo chown ${server.username} in place of its owner`
    )
  }
  if (!isProjectName(stack.name)) {
    return yield* refuse(`compose cannot be called with the name of its project, ${quoteInput(stack.name)}`)
  }
  return { ...stack, server } satisfies AdoptableStack
})

const failed = (reason: string) => new ScanFailed({ reason })

/** Lists the deployed projects of a server: the directories under `~/containers`, in one command. */
export const scan = Effect.fn("scan")(function*(
  serverId: string
): Effect.fn.Return<ReadonlyArray<DeployedProject>, ScanFailed | ServerUnresolved, Settings | Ssh> {
  const server = yield* findServerOrFail(serverId, failed)
  const { stdout } = yield* Effect.mapError(
    execute(server, scanCommand),
    ({ message }) => failed(message)
  )
  const deployed = yield* Effect.mapError(
    parseScan(stdout),
    () => failed(`"${server.name}" did not answer with a list of directories`)
  )
  return yield* Effect.forEach(deployed, (project) =>
    project.composeFileContent === null
      ? Effect.succeed(project)
      : Effect.map(redactCompose(project.composeFileContent), (text) => ({
        ...project,
        composeFileContent: Option.getOrElse(text, () => mask)
      })))
})
