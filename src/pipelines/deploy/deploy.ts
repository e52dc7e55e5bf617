import type { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import { DeployPlanMoved } from "../../schema/ContainerPlan.ts"
import {
  DeployFailed,
  DeployLocked,
  type DeployRequest,
  type DeployResult,
  type OnUnhealthy,
  type PullPolicy
} from "../../schema/Deploy.ts"
import { type PathOutside, ProjectFileInvalid, type ProjectPathInvalid } from "../../schema/Project.ts"
import { followedBy } from "../../schema/quoted.ts"
import { type RemotePathInvalid, stackPathIn } from "../../schema/RemotePath.ts"
import type { RunFailure } from "../../schema/Run.ts"
import type { ServerAccess, ServerUnresolved } from "../../schema/Server.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import type { LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import type { FileLocked, Locks } from "../../services/locks/Locks.ts"
import { counted } from "../../services/runs/counted.ts"
import type { Instance } from "../../services/runs/Instance.ts"
import { countBytes } from "../../services/runs/progress.ts"
import { RunRequest } from "../../services/runs/RunRequest.ts"
import { Runs } from "../../services/runs/Runs.ts"
import { stages, Steps, uncancellable } from "../../services/runs/Steps.ts"
import { warnWithoutSecrets, withoutSecrets } from "../../services/secrets/secretsInUse.ts"
import { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { partialSize } from "../archive/partialTar.ts"
import { projectDirectory } from "../projects/projectDirectory.ts"
import { manifestLines } from "../remote/releaseManifest.ts"
import { acquireDeployLock } from "./acquireDeployLock.ts"
import { activate, LoadFailed } from "./activation.ts"
import { awaitHealth } from "./awaitHealth.ts"
import { besideOtherDeploys } from "./besideOtherDeploys.ts"
import { checkPlan } from "./containerPlan/containerPlan.ts"
import { decide, refusalOf } from "./decide.ts"
import type { DeployFile } from "./deployFiles.ts"
import { envFileNames } from "./envFileNames.ts"
import { stateWithin } from "./failureState.ts"
import { healthOutcome } from "./healthWords.ts"
import { keepReleases } from "./keepReleases.ts"
import { describeKept } from "./kept.ts"
import { pullImages } from "./pullImages.ts"
import { deploySpec } from "./reconcileDeploy.ts"
import { releaseOf } from "./releaseOf.ts"
import { settle } from "./settle.ts"
import { describeRemarks } from "./startRemarks.ts"
import { archiveHelp, imageSource, type Transfer, transferInput, transferSize } from "./transfer.ts"
import { makeActivations } from "./undoneWhenCancelled.ts"
import { uploadFiles } from "./upload.ts"

/** A step whose failure is the deploy's: `Deploy failed at <step>: …`. */
const stage = stages((name, error) => {
  if (error instanceof DeployFailed || error instanceof DeployLocked || error instanceof DeployPlanMoved) return error
  const status = error instanceof ProjectFileInvalid ? error.status : 500
  const state = error instanceof LoadFailed ? error.state : stateWithin(name)
  return new DeployFailed({ step: name, reason: error.message, state, status })
})

const size = (bytes: number) =>
  bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
const total = (files: ReadonlyArray<DeployFile>) => files.reduce((sum, file) => sum + file.size, 0)
const loadWords = (transfer: Transfer, file: DeployFile | undefined): string => {
  switch (transfer.kind) {
    case "none":
      return "nothing to load"
    case "names":
      return `${file?.name}: the server has its images`
    case "layers":
      return `${size(partialSize(transfer.members))} of ${file?.name}: the server has the rest`
    case "whole":
    case "file":
      return file?.name ?? ""
  }
}

/** What a request may say of a deploy beside where it goes. */
interface Wishes {
  readonly planHash: string | undefined
  readonly pull: PullPolicy | undefined
  readonly onUnhealthy: OnUnhealthy | undefined
}

/** Everything that has to be known before anything is changed; the remote path is held from then on. */
const prepare = (server: ServerAccess, directory: string, remotePath: string, { planHash, ...wishes }: Wishes) =>
  Effect.gen(function*() {
    const decided = Effect.gen(function*() {
      const decision = yield* decide(server, directory, remotePath, {
        isPlanned: planHash !== undefined,
        ...wishes
      })
      if (planHash !== undefined) yield* checkPlan(planHash, { server, directory, remotePath }, decision)
      const refusal = refusalOf(decision, directory)
      return Option.isNone(refusal) ? decision : yield* refusal.value
    })
    const ready = yield* decided
    const revision = yield* acquireDeployLock(server, remotePath)
    // What was seen is no longer so when somebody else has deployed since. A plan binds what is done under the lock.
    return revision === ready.facts.revision && planHash === undefined ? ready : yield* decided
  })

const deployTo = (
  server: ServerAccess,
  directory: string,
  remotePath: string,
  wishes: Wishes,
  by: string
) =>
  Effect.gen(function*() {
    const { archive, facts, plan, pollOptions, toPull, transfer } = yield* stage(
      "preflight",
      prepare(server, directory, remotePath, wishes),
      ({ facts }) => `Docker ${facts.engine}, compose ${facts.composeVersion}`
    )
    const onUnhealthy = wishes.onUnhealthy ?? plan.onUnhealthy ?? (yield* (yield* Settings).get("deploy.onUnhealthy"))
    if (toPull.length > 0) {
      const pulled = Effect.scoped(pullImages(server, remotePath, toPull, facts.containerdStore))
      yield* stage("pull", pulled, () => toPull.join(", "))
    }
    const archiveFile = plan.archive === undefined ? [] : [plan.archive]
    const all = total([...plan.files, ...archiveFile])

    const upload = (files: ReadonlyArray<DeployFile>) => uploadFiles(server, remotePath, files, facts.fileHashes)
    const uploaded = yield* stage(
      "upload",
      upload(transfer.kind === "file" ? [...plan.files, ...archiveFile] : plan.files),
      (sent) => `${counted(sent.length, "file")}, ${size(total(sent))} of ${size(all)}`
    )

    const brought = { ...facts, deployed: plan.envFiles }
    const activations = yield* makeActivations(server, remotePath, brought)
    const load = (transfer: Transfer) =>
      Effect.gen(function*() {
        const source = imageSource(transfer, plan.archive, archive, facts)
        const bytes = yield* transferInput(transfer, plan.archive)
        const count = yield* countBytes("load", transferSize(transfer, plan.archive))
        const input = bytes === undefined ? undefined : count.passing(bytes)
        const activation = yield* activations.begin(activate(server, {
          run: (yield* Steps).run,
          remotePath,
          composeKind: facts.composeKind === "none" ? "v2" : facts.composeKind,
          composeVersion: facts.composeVersion,
          composeFile: plan.compose.fileName,
          containerdStore: facts.containerdStore,
          source,
          envFiles: envFileNames(plan, facts),
          images: plan.images,
          release: [...manifestLines(releaseOf(plan, by)), yield* keepReleases(onUnhealthy)]
        }, input))
        yield* activation.loaded
        const sent = input === undefined ? 0 : transferSize(transfer, plan.archive)
        return { activation, sent, words: loadWords(transfer, plan.archive) }
      })
    /** What the server did not take in part it gets whole. */
    const loadWhole = (partial: Transfer, reason: string) =>
      Effect.gen(function*() {
        yield* warnWithoutSecrets(`The server did not take a part of the archive, so all of it is sent: ${reason}`)
        const whole = yield* load({ kind: "whole" })
        return {
          activation: whole.activation,
          sent: transferSize(partial, plan.archive) + whole.sent,
          words: `all of ${plan.archive?.name}, since a part of it did not do`
        }
      })
    const started = Effect.gen(function*() {
      const { activation, sent } = yield* stage(
        "load",
        Effect.catchTag(
          load(transfer),
          "LoadFailed",
          (error) => transfer.kind === "layers" || transfer.kind === "names" ? loadWhole(transfer, error.reason) : error
        ).pipe(
          Effect.catchTag(
            "LoadFailed",
            ({ reason, state }) =>
              new LoadFailed({ reason: followedBy(reason, archiveHelp(plan.archive, archive, reason)), state })
          )
        ),
        ({ words }) => words
      )
      // Once the files are being exchanged there is nothing to stop at before the stack has started.
      const remarks = yield* uncancellable(stage("start", activation.started, () => plan.compose.fileName))
      const health = yield* stage(
        "health",
        Effect.flatMap(activation.seen, (seen) => awaitHealth(server, plan.compose.services, seen, pollOptions)),
        healthOutcome
      )
      const kept = yield* activation.kept
      const result = yield* settle(server, remotePath, { facts: brought, health, kept, onUnhealthy })
      return { kept, remarks, result, sent }
    })
    const { kept, remarks, result, sent } = yield* activations.undoneWhenCancelled(started)
    const bytes = total(uploaded) + sent
    const names = uploaded.map(({ name }) => name)
    return {
      ...result,
      uploadedFiles: sent === 0 ? names : [...names, ...archiveFile.map(({ name }) => name)],
      message: [
        result.message,
        (bytes === 0 ? `Nothing of ${size(all)} had to be sent.` : `Sent ${size(bytes)} of ${size(all)}.`) +
        (yield* withoutSecrets(describeRemarks(remarks) + (result.success ? describeKept(kept) : ""))) +
        result.details
      ].join(" ")
    }
  }).pipe(Effect.scoped)

/**
 * Brings a project to a server: preflight, upload, load, start, health. What fails from `load` on is undone, so that
 * what ran before runs again; of a stack that starts and stays unhealthy,
 * `onUnhealthy` decides.
 */
export const deploy = Effect.fn("deploy")(function*(
  { onUnhealthy, planHash, projectPath, pull, remotePath, serverId }: DeployRequest
): Effect.fn.Return<
  DeployResult,
  | DeployFailed
  | DeployLocked
  | DeployPlanMoved
  | ServerUnresolved
  | PathOutside
  | ProjectPathInvalid
  | RemotePathInvalid
  | SettingsError
  | LocalFileFailed
  | FileLocked
  | RunFailure,
  Settings | Ssh | LocalFiles | Path.Path | Runs | Instance | Locks
> {
  const server = yield* (yield* Settings).server(serverId)
  const path = yield* stackPathIn("remotePath", remotePath)
  const directory = yield* projectDirectory(projectPath)
  const { requestedBy } = yield* RunRequest
  const program = besideOtherDeploys(server)(
    deployTo(
      server,
      directory,
      path,
      { planHash: planHash ?? undefined, pull: pull ?? undefined, onUnhealthy: onUnhealthy ?? undefined },
      requestedBy.name
    )
  )
  return yield* (yield* Runs).run(
    deploySpec(server, directory, path, { projectPath, remotePath, serverId: server.id }),
    program
  )
})
