import type { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import type { DockerUnusable } from "../../../schema/Container.ts"
import { type ContainerPlan, DeployPlanMoved, type PlannedFile } from "../../../schema/ContainerPlan.ts"
import type { ContainerPlanRequest } from "../../../schema/Deploy.ts"
import type { PathOutside, ProjectFileInvalid, ProjectPathInvalid } from "../../../schema/Project.ts"
import { type RemotePathInvalid, stackPathIn } from "../../../schema/RemotePath.ts"
import type { ServerUnresolved } from "../../../schema/Server.ts"
import type { SettingsError } from "../../../schema/Settings.ts"
import type { SshError } from "../../../schema/Ssh.ts"
import { type LocalFileFailed, LocalFiles } from "../../../services/local/LocalFiles.ts"
import { keyedDigest } from "../../../services/secrets/keyedDigest.ts"
import { withoutSecrets } from "../../../services/secrets/secretsInUse.ts"
import { Settings } from "../../../services/settings/Settings.ts"
import type { Ssh } from "../../../services/ssh/Ssh.ts"
import { movedSince, planHash } from "../../plans/planHash.ts"
import { parseEnv } from "../../projects/envText.ts"
import { projectDirectory } from "../../projects/projectDirectory.ts"
import { projectText } from "../../projects/projectText.ts"
import { decide, type Decision } from "../decide.ts"
import { envFileNames } from "../envFileNames.ts"
import { transferSize } from "../transfer.ts"
import { deployFacts, type DeployTarget, factsOf, type ProjectDigests } from "./facts.ts"
import { imageChanges } from "./imageChanges.ts"
import { serviceChanges } from "./serviceChanges.ts"

const filesAtOnce = 4

const textOf = (directory: string, name: string) => Effect.map(projectText(directory, name), Option.getOrElse(() => ""))

const digestsOf = (directory: string, { archive, plan }: Decision) =>
  Effect.gen(function*() {
    const local = yield* LocalFiles
    const sha256 = yield* Effect.forEach(
      plan.files,
      ({ name, path }) => Effect.map(local.sha256(path), (hash) => [name, hash] as const),
      { concurrency: filesAtOnce }
    )
    const keys = yield* Effect.forEach(plan.envFiles, (name) =>
      Effect.map(textOf(directory, name), (text) => [name, parseEnv(text).map(({ key }) => key)] as const))
    const unread = plan.archive !== undefined && Option.isNone(archive) ? yield* local.sha256(plan.archive.path) : ""
    return { sha256: new Map(sha256), keys: new Map(keys), archive: unread } satisfies ProjectDigests
  })

const fileChanges = ({ facts, plan }: Decision, { sha256 }: ProjectDigests): ReadonlyArray<PlannedFile> => [
  ...plan.files.map(({ name, size }): PlannedFile => {
    const there = facts.fileHashes.get(name)
    return { name, change: there === undefined ? "new" : there === sha256.get(name) ? "same" : "changed", bytes: size }
  }),
  ...envFileNames(plan, facts).gone.map((name): PlannedFile => ({ name, change: "removed", bytes: 0 }))
]

const archiveWarnings = ({ archive, plan }: Decision): ReadonlyArray<string> =>
  plan.archive === undefined || Option.isSome(archive)
    ? []
    : [`${plan.archive.name} is of a form that cannot be read: all of it is sent, and what it changes is not known`]

const pullWarnings = ({ pull, toPull }: Decision): ReadonlyArray<string> =>
  toPull.map((name) =>
    `the server pulls ${name} from its registry` +
    (pull === "always" ? ": its containers are made anew where it has changed there" : "")
  )

/** What a deploy would do now, with a hash that holds a later deploy to it. Changes nothing anywhere. */
export const containerPlan = Effect.fn("containerPlan")(function*(
  { onUnhealthy, projectPath, pull, remotePath, serverId }: ContainerPlanRequest
): Effect.fn.Return<
  ContainerPlan,
  | DockerUnusable
  | LocalFileFailed
  | ProjectFileInvalid
  | PathOutside
  | ProjectPathInvalid
  | RemotePathInvalid
  | ServerUnresolved
  | SettingsError
  | SshError,
  LocalFiles | Path.Path | Settings | Ssh
> {
  const server = yield* (yield* Settings).server(serverId)
  const path = yield* stackPathIn("remotePath", remotePath)
  const directory = yield* projectDirectory(projectPath)
  const target = { server, directory, remotePath: path }
  const decision = yield* decide(server, directory, path, {
    isPlanned: true,
    pull: pull ?? undefined,
    onUnhealthy: onUnhealthy ?? undefined
  })
  const digests = yield* digestsOf(directory, decision)
  const { plan, transfer } = decision
  const files = fileChanges(decision, digests)
  const sent = files.filter(({ change }) => change === "new" || change === "changed")
  const { services, warnings } = serviceChanges(decision, {
    compose: yield* textOf(directory, plan.compose.fileName),
    env: yield* textOf(directory, ".env"),
    changedFiles: new Set(sent.map(({ name }) => name))
  })
  const sizeOf = (all: ReadonlyArray<PlannedFile>) => all.reduce((sum, { bytes }) => sum + bytes, 0)
  const words = (texts: ReadonlyArray<string>) => Effect.forEach(texts, (text) => withoutSecrets(text))
  return {
    planHash: planHash(deployFacts, factsOf(target, decision, digests), yield* keyedDigest),
    projectPath: directory,
    serverId: server.id,
    remotePath: path,
    files,
    images: imageChanges(decision),
    services,
    bytesToSend: sizeOf(sent) + transferSize(transfer, plan.archive),
    bytesTotal: sizeOf(files) + (plan.archive?.size ?? 0),
    obstacles: yield* words(decision.obstacles),
    warnings: yield* words([
      ...plan.compose.warnings,
      ...warnings,
      ...archiveWarnings(decision),
      ...pullWarnings(decision)
    ])
  }
})

/** Fails where a deploy would not do what was planned. */
export const checkPlan = Effect.fn("deploy.checkPlan")(function*(
  hash: string,
  target: DeployTarget,
  decision: Decision
): Effect.fn.Return<
  void,
  DeployPlanMoved | LocalFileFailed | ProjectFileInvalid | SettingsError,
  LocalFiles | Path.Path | Settings
> {
  const facts = factsOf(target, decision, yield* digestsOf(target.directory, decision))
  const moved = movedSince(deployFacts, hash, facts, yield* keyedDigest)
  if (moved.length === 0) return
  const words = yield* Effect.forEach(moved, (text) => withoutSecrets(text))
  return yield* new DeployPlanMoved({ remotePath: target.remotePath, server: target.server.name, moved: words })
})
