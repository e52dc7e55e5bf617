import { Effect, Option } from "effect"
import { parsePreflight, preflightCommand, type PreflightQuestions, type ServerFacts } from "../../remote/deploy.ts"
import { parseReleases, releasesCommand, type RemoteRelease } from "../../remote/releases.ts"
import { containersCommand, parseContainers, parseStats, statsCommand } from "../../remote/stack.ts"
import { ReleasesFailed } from "../../schema/releases.ts"
import type { ServerInput, ServerUnresolved } from "../../schema/servers.ts"
import type { JumpRefused, ServerAccess, SshError } from "../../schema/ssh.ts"
import { type Container, ContainersFailed, DockerUnusable, type Stack } from "../../schema/stacks.ts"
import { type ContainerStats, StatsFailed } from "../../schema/usage.ts"
import { Settings, type SettingsError, type StoredAccess } from "../../services/settings/Settings.ts"
import { execute, Ssh } from "../../services/ssh/Ssh.ts"

/** Finds a stored server. Passes on the error for a missing one; maps other settings errors with `failed`. */
export const findServerOrFail = <E>(
  id: string,
  failed: (reason: string) => E
): Effect.Effect<ServerAccess, ServerUnresolved | E, Settings> =>
  Effect.mapError(
    Effect.flatMap(Settings, (settings) => settings.server(id)),
    (error) => error._tag === "ServerNotFound" || error._tag === "ServerAmbiguous" ? error : failed(error.message)
  )

const saysNotFound = (line: string): boolean => {
  const at = line.search(/\bdocker: /i)
  return at >= 0 && /not found/i.test(line.slice(at))
}

/** Docker's error message on a server, with the remedy if it is known. */
export const describeDockerRefusal = (words: string, server: Pick<ServerAccess, "username">): string => {
  if (/permission ?(denied|error)/i.test(words) && /docker/i.test(words)) {
    return `${words}. Add ${server.username} to the group docker, or set useSudo for this server`
  }
  if (words.split("\n").some(saysNotFound)) return `Docker is not installed, or not on the PATH: ${words}`
  return words === "" ? "Docker did not say why" : words
}

const failed = (reason: string) => new ContainersFailed({ reason })

/** Lists the running containers of a server; with `all` also the others. */
export const listContainers = Effect.fn("listContainers")(function*(
  serverId: string,
  { all = false }: { readonly all?: boolean } = {}
): Effect.fn.Return<ReadonlyArray<Container>, ContainersFailed | ServerUnresolved, Settings | Ssh> {
  const server = yield* findServerOrFail(serverId, failed)
  const { stdout } = yield* Effect.mapError(
    execute(server, containersCommand(server.useSudo, all)),
    ({ message }) => failed(describeDockerRefusal(message, server))
  )
  return parseContainers(stdout)
})

const statsFailed = (reason: string) => new StatsFailed({ reason })

/** Reads the current usage of a server's running containers. Docker takes one or two seconds to measure it. */
export const stats = Effect.fn("stats")(function*(
  serverId: string
): Effect.fn.Return<ReadonlyArray<ContainerStats>, StatsFailed | ServerUnresolved, Settings | Ssh> {
  const server = yield* findServerOrFail(serverId, statsFailed)
  const { stdout } = yield* Effect.mapError(
    execute(server, statsCommand(server.useSudo), { timeout: "30 seconds" }),
    ({ message }) => statsFailed(describeDockerRefusal(message, server))
  )
  return parseStats(stdout)
})

/** Resolves the jump host of a request's server: its own, or else that of the stored server. */
export const resolveJumpHost = (
  jump: ServerInput["jump"],
  stored: Option.Option<StoredAccess>
): Effect.Effect<ServerAccess | undefined, JumpRefused | SettingsError, Settings> => {
  if (jump === null) return Effect.succeed(undefined)
  if (jump !== undefined) return Effect.flatMap(Settings, (settings) => settings.jumpRoute(jump))
  return Option.match(stored, { onNone: () => Effect.succeed(undefined), onSome: ({ via }) => via })
}

/** Releases of a remote path that the server keeps, newest first. */
export const readReleases = Effect.fn("readReleases")(function*(
  { remotePath, server }: Stack
): Effect.fn.Return<ReadonlyArray<RemoteRelease>, ReleasesFailed, Ssh> {
  const { stdout } = yield* Effect.mapError(
    execute(server, releasesCommand(remotePath, server.useSudo)),
    ({ message }) =>
      new ReleasesFailed({ remotePath, server: server.name, reason: describeDockerRefusal(message, server) })
  )
  return parseReleases(stdout)
})

/** Reason why this server's Docker and compose cannot run a stack, if there is one. */
export const findComposeFailure = (facts: ServerFacts, server: string): string | undefined => {
  if (facts.engine === "") return `Docker on "${server}" does not answer`
  if (facts.composeKind === "none") {
    return `"${server}" has neither docker compose nor docker-compose: install the compose plugin`
  }
  if (facts.composeKind === "v1" && Number.parseInt(facts.engine, 10) >= 25) {
    return `docker-compose ${facts.composeVersion} cannot recreate containers on Docker ${facts.engine} ` +
      "(KeyError: 'ContainerConfig'): install the compose plugin, so that \"docker compose version\" answers"
  }
  return undefined
}

/** Reads the requested facts about a server in one command. */
export const readFacts = (
  server: ServerAccess,
  questions: PreflightQuestions
): Effect.Effect<ServerFacts, DockerUnusable | SshError, Ssh> =>
  Effect.gen(function*() {
    const command = preflightCommand(questions, server.useSudo)
    const answer = yield* (yield* Ssh).exec(server, command)
    return answer.code === 0
      ? parsePreflight(answer.stdout)
      : yield* new DockerUnusable({ reason: describeDockerRefusal(answer.stderr.trim(), server) })
  })

/** Facts for a rollback: Docker, compose, and the files of the last deploy. */
export const readServerFacts = (
  { remotePath, server }: Stack
): Effect.Effect<ServerFacts, DockerUnusable | SshError, Ssh> =>
  readFacts(server, { remotePath, images: [], files: [], layers: false, thorough: false })
