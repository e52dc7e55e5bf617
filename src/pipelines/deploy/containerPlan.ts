import type { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import { type ContainerPlan, DeployPlanMoved, type PlannedFile } from "../../schema/deploy/ContainerPlan.ts"
import type { ContainerPlanRequest } from "../../schema/deploy/Deploy.ts"
import type { PlannedHook } from "../../schema/deploy/Hooks.ts"
import { describePull } from "../../schema/deploy/pullNote.ts"
import type { ProjectFileInvalid } from "../../schema/projects/Project.ts"
import type { DockerUnusable } from "../../schema/servers/Container.ts"
import type { SshError } from "../../schema/servers/Ssh.ts"
import { CurrentCaller } from "../../services/access/Caller.ts"
import { maySeeValues } from "../../services/access/rights.ts"
import { LocalFiles } from "../../services/local/LocalFiles.ts"
import type { Platform } from "../../services/platform/Platform.ts"
import { maskArguments } from "../../services/secrets/maskArguments.ts"
import { planHashDigest } from "../../services/secrets/planHashDigest.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { computeFullSize, computeTransferSize } from "../archive/transfer.ts"
import { withRollout } from "../bridge/Rollout.ts"
import { listPlannedHooks } from "../hooks/Hooks.ts"
import { changedFacts } from "../plans/changedFacts.ts"
import { computePlanHash } from "../plans/planHash.ts"
import { parseEnv } from "../projects/compose/envText.ts"
import { readProjectText } from "../projects/files/readProjectText.ts"
import { type DirectoryRefused, resolveProjectDirectory } from "../projects/files/resolveProjectDirectory.ts"
import { listEnvFileNames } from "../projects/listEnvFileNames.ts"
import { resolveStackToChange, type StackRefused } from "../servers/resolveStack.ts"
import { decideDeploy } from "./decideDeploy.ts"
import type { DeployDecision } from "./DeployDecision.ts"
import { collectDeployFacts, type DeployTarget, listDeployFactKinds, type ProjectDigests } from "./deployFacts.ts"
import { computeImageChanges } from "./imageChanges.ts"
import { planServiceChanges } from "./serviceChanges.ts"

const filesAtOnce = 4

const textOf = (directory: string, name: string) =>
  Effect.map(readProjectText(directory, name), Option.getOrElse(() => ""))

const digestsOf = (directory: string, { archive, plan }: DeployDecision) =>
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

const fileChanges = ({ facts, plan }: DeployDecision, { sha256 }: ProjectDigests): ReadonlyArray<PlannedFile> => [
  ...plan.files.map(({ name, size }): PlannedFile => {
    const there = facts.fileHashes.get(name)
    return { name, change: there === undefined ? "new" : there === sha256.get(name) ? "same" : "changed", bytes: size }
  }),
  ...listEnvFileNames(plan, facts).gone.map((name): PlannedFile => ({ name, change: "removed", bytes: 0 }))
]

const archiveWarnings = ({ archive, plan }: DeployDecision): ReadonlyArray<string> =>
  plan.archive === undefined || Option.isSome(archive)
    ? []
    : [`${plan.archive.name} is of a form that cannot be read: all of it is sent, and what it changes is unknown`]

const pullWarnings = ({ pull, toPull }: DeployDecision): ReadonlyArray<string> =>
  toPull.map((name) => describePull(name, pull === "always"))

/** Planned commands without secrets of the settings, and for viewers without arguments. */
const shownHooks = (hooks: ReadonlyArray<PlannedHook>) =>
  Effect.forEach(hooks, (hook) =>
    Effect.gen(function*() {
      const command = yield* Effect.forEach(hook.command, (word) => scrubSecrets(word))
      const { role } = yield* CurrentCaller
      return { ...hook, command: maySeeValues(role) ? command : maskArguments(command) } satisfies PlannedHook
    }))

/** Plans a deploy, with a hash that binds a later deploy to this plan. Changes nothing. */
export const planContainers = Effect.fn("planContainers")(function*(
  { onUnhealthy, projectPath, pull, remotePath, serverId }: ContainerPlanRequest
): Effect.fn.Return<
  ContainerPlan,
  DirectoryRefused | DockerUnusable | ProjectFileInvalid | SshError | StackRefused,
  LocalFiles | Path.Path | Platform | Settings | Ssh
> {
  const { remotePath: path, server } = yield* resolveStackToChange({ remotePath, serverId })
  const directory = yield* resolveProjectDirectory(projectPath)
  const target = { server, directory, remotePath: path }
  const decision = yield* decideDeploy(server, directory, path, {
    isPlanned: true,
    pull: pull ?? undefined,
    onUnhealthy: onUnhealthy ?? undefined
  })
  const digests = yield* digestsOf(directory, decision)
  const { plan, transfer } = decision
  const files = fileChanges(decision, digests)
  const sent = files.filter(({ change }) => change === "new" || change === "changed")
  const { services, warnings } = planServiceChanges(decision, {
    compose: yield* textOf(directory, plan.compose.fileName),
    env: yield* textOf(directory, ".env"),
    changedFiles: new Set(sent.map(({ name }) => name))
  })
  const sizeOf = (all: ReadonlyArray<PlannedFile>) => all.reduce((sum, { bytes }) => sum + bytes, 0)
  const words = (texts: ReadonlyArray<string>) => Effect.forEach(texts, (text) => scrubSecrets(text))
  return {
    planHash: computePlanHash(
      listDeployFactKinds(decision),
      collectDeployFacts(target, decision, digests),
      yield* planHashDigest
    ),
    projectPath: directory,
    serverId: server.id,
    remotePath: path,
    files,
    images: computeImageChanges(decision),
    services: yield* Effect.forEach(services, (service) => withRollout(service, decision.rollouts)),
    ...plan.hooks === undefined ? {} : { hooks: yield* shownHooks(listPlannedHooks(plan.hooks)) },
    bytesToSend: sizeOf(sent) + computeTransferSize(transfer, plan.archive),
    bytesTotal: sizeOf(files) + computeFullSize(transfer, plan.archive),
    obstacles: yield* words(decision.preflightFailures),
    warnings: yield* words([
      ...plan.compose.warnings,
      ...warnings,
      ...archiveWarnings(decision),
      ...pullWarnings(decision)
    ])
  }
})

/** Fails if a deploy would not do what was planned. */
export const checkPlan = Effect.fn("deploy.checkPlan")(function*(
  hash: string,
  target: DeployTarget,
  decision: DeployDecision
) {
  const facts = collectDeployFacts(target, decision, yield* digestsOf(target.directory, decision))
  const moved = changedFacts(listDeployFactKinds(decision), hash, facts, yield* planHashDigest)
  if (moved.length === 0) return
  const words = yield* Effect.forEach(moved, (text) => scrubSecrets(text))
  return yield* new DeployPlanMoved({ remotePath: target.remotePath, server: target.server.name, moved: words })
})
