import { Effect } from "effect"
import { DockerUnusable } from "../../schema/Container.ts"
import type { ServerAccess } from "../../schema/Server.ts"
import type { SshError } from "../../schema/Ssh.ts"
import { Ssh } from "../../services/ssh/Ssh.ts"
import {
  parsePreflight,
  preflightCommand,
  type PreflightQuestions,
  type ServerFacts
} from "../remote/deployPreflight.ts"
import { dockerHelp } from "../servers/dockerHelp.ts"
import type { DeployPlan } from "./plan.ts"

const spareKiB = 16 * 1024
const mebibytes = (kib: number) => `${Math.floor(kib / 1024)} MiB`

/** Why the Docker and compose of this server cannot run a stack, or nothing. */
export const composeFailure = (facts: ServerFacts, server: string): string | undefined => {
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

/** The bytes that a deploy brings to a server for sure. */
export interface Arriving {
  /** What is stored in the remote path. */
  readonly files: number
  /** What Docker loads. */
  readonly images: number
}

/**
 * Why this server cannot take this deploy; empty where it can. What only follows from another reason is left out.
 * @param others what else is in the way: images that are lacking, ports that are taken
 */
export const preflightFailures = (
  facts: ServerFacts,
  server: string,
  arriving: Arriving,
  others: ReadonlyArray<string> = []
): ReadonlyArray<string> => {
  const unfit = composeFailure(facts, server)
  if (unfit !== undefined) return [unfit]
  const short = [
    { freeKiB: facts.freeKiB, bytes: arriving.files, place: "at the remote path" },
    { freeKiB: facts.dockerFreeKiB, bytes: arriving.images, place: "where Docker keeps its images" }
  ].map((disk) => ({ ...disk, wantedKiB: Math.ceil(disk.bytes / 1024) + spareKiB }))
    .find(({ freeKiB, wantedKiB }) => freeKiB < wantedKiB)
  return [
    ...facts.readOnly === undefined ? [] : [`the SSH user may not write to ${facts.readOnly} on "${server}"`],
    ...others,
    ...short === undefined ? [] : [
      `"${server}" has ${mebibytes(short.freeKiB)} of free disk space ${short.place}, and the deploy needs ` +
      mebibytes(short.wantedKiB)
    ]
  ]
}

const ask = (
  server: ServerAccess,
  questions: PreflightQuestions
): Effect.Effect<ServerFacts, DockerUnusable | SshError, Ssh> =>
  Effect.gen(function*() {
    const command = preflightCommand(questions, server.useSudo)
    const answer = yield* (yield* Ssh).exec(server, command)
    return answer.code === 0
      ? parsePreflight(answer.stdout)
      : yield* new DockerUnusable({ reason: dockerHelp(answer.stderr.trim(), server) })
  })

/**
 * Looks at everything that a deploy has to know of the server in one command.
 * @param planned for a plan, the names of further images whose meaning is wanted; then what is there now is told too
 */
export const preflight = Effect.fn("deploy.preflight")(function*(
  server: ServerAccess,
  remotePath: string,
  plan: DeployPlan,
  planned?: ReadonlyArray<string>
): Effect.fn.Return<ServerFacts, DockerUnusable | SshError, Ssh> {
  const questions = {
    remotePath,
    images: [...new Set([...plan.images, ...planned ?? []])],
    files: plan.files.map(({ name }) => name),
    layers: plan.archive !== undefined,
    thorough: false,
    ...planned === undefined ? {} : { planned: plan.compose.fileName }
  }
  return yield* ask(server, questions)
})

/** What a rollback has to know of the server: its Docker and compose, and what the last deploy brought. */
export const serverFacts = (
  server: ServerAccess,
  remotePath: string
): Effect.Effect<ServerFacts, DockerUnusable | SshError, Ssh> =>
  ask(server, { remotePath, images: [], files: [], layers: false, thorough: false })
