import { Effect } from "effect"
import {
  parsePreflight,
  preflightCommand,
  type PreflightQuestions,
  type ServerFacts
} from "../../remote/deploy/preflightCommand.ts"
import { DockerUnusable } from "../../schema/servers/Container.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import type { SshError } from "../../schema/servers/Ssh.ts"
import { Ssh } from "../../services/ssh/Ssh.ts"
import { describeDockerRefusal } from "../servers/describeDockerRefusal.ts"

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
  server: ServerAccess,
  remotePath: string
): Effect.Effect<ServerFacts, DockerUnusable | SshError, Ssh> =>
  readFacts(server, { remotePath, images: [], files: [], layers: false, thorough: false })
