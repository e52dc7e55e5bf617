import { Effect } from "effect"
import type { ServerFacts } from "../../remote/deploy/preflightCommand.ts"
import type { DockerUnusable } from "../../schema/servers/Container.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import type { SshError } from "../../schema/servers/Ssh.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { findComposeFailure, readFacts } from "../activation/readServerFacts.ts"
import type { DeployPlan } from "./planDeploy.ts"

const spareKiB = 16 * 1024
const mebibytes = (kib: number) => `${Math.floor(kib / 1024)} MiB`

/** Bytes that a deploy is certain to bring to a server. */
export interface IncomingBytes {
  /** Stored in the remote path. */
  readonly files: number
  /** Loaded by Docker. */
  readonly images: number
}

/**
 * Reasons why this server cannot take this deploy, without those that only follow from another one.
 * @param others further reasons: missing images, taken ports
 */
export const findPreflightFailures = (
  facts: ServerFacts,
  server: string,
  arriving: IncomingBytes,
  others: ReadonlyArray<string> = []
): ReadonlyArray<string> => {
  const unfit = findComposeFailure(facts, server)
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

/**
 * Reads everything that a deploy needs to know about the server in one command.
 * @param planned for a plan: names of further images to resolve; also reads the deployed state
 */
export const runPreflight = Effect.fn("deploy.preflight")(function*(
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
  return yield* readFacts(server, questions)
})
