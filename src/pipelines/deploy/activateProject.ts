import { Effect, type Stream } from "effect"
import type { ImageSource } from "../../remote/activation/activateCommand.ts"
import { formatManifest } from "../../remote/activation/releaseManifest.ts"
import { Steps } from "../../services/runs/Steps.ts"
import { uncancellable } from "../../services/runs/uncancellable.ts"
import { activate } from "../activation/activate.ts"
import { finishDeploy } from "../activation/finishDeploy.ts"
import { formatKeepReleases } from "../activation/formatKeepReleases.ts"
import { awaitHealth } from "../activation/health/awaitHealth.ts"
import { toHealthOutcome } from "../activation/health/describeHealth.ts"
import { makeActivations } from "../activation/undoWhenCancelled.ts"
import { makeBridging } from "../bridge/Bridging.ts"
import { describeRollouts } from "../bridge/Rollout.ts"
import { runAfterDeploy } from "../hooks/afterDeploy.ts"
import { buildStartHookLines, stopHookWhenCancelled } from "../hooks/beforeStart.ts"
import type { DeployFile } from "../projects/deployFiles.ts"
import { listEnvFileNames } from "../projects/listEnvFileNames.ts"
import { buildReleaseManifest } from "./buildReleaseManifest.ts"
import type { DeployDecision } from "./DeployDecision.ts"
import type { DeployTarget } from "./deployFacts.ts"
import { stage } from "./deployStage.ts"
import { loadImages } from "./loadImages.ts"

/**
 * Loads the images, starts the stack and waits for its health. Rolls an unhealthy stack back if `onUnhealthy` says so.
 */
export const activateProject = (
  target: DeployTarget,
  decision: DeployDecision,
  { isCompressed, uploaded }: { readonly isCompressed: boolean; readonly uploaded: ReadonlyArray<DeployFile> },
  by: string
) =>
  Effect.gen(function*() {
    const { remotePath, server } = target
    const { facts, healthOptions, onUnhealthy, plan } = decision
    const deployed = { ...facts, deployed: plan.envFiles }
    const activations = yield* makeActivations(server, remotePath, deployed)
    const { run } = yield* Steps
    const hookLines = buildStartHookLines(plan.hooks, run)
    const stoppable = stopHookWhenCancelled(server, remotePath, hookLines)
    const bridging = yield* makeBridging(server, remotePath, decision.rollouts, facts.hasBridge === true)
    const begin = (source: ImageSource, input: Stream.Stream<Uint8Array, { readonly message: string }> | undefined) =>
      Effect.gen(function*() {
        const release = [
          ...formatManifest(buildReleaseManifest(plan, by)),
          yield* formatKeepReleases(onUnhealthy),
          ...hookLines,
          ...bridging.lines
        ]
        return yield* activations.begin(activate(server, facts, {
          run,
          remotePath,
          composeFile: plan.compose.fileName,
          source,
          stagedFiles: uploaded.length,
          envFiles: listEnvFileNames(plan, facts),
          images: plan.images,
          release
        }, input))
      })
    const started = Effect.gen(function*() {
      const { activation, sent } = yield* stage(
        "load",
        stoppable(loadImages(server, decision, isCompressed, begin)),
        ({ detail }) => detail
      )
      if (hookLines.length > 0) {
        yield* stage("beforeStart", stoppable(activation.hooked), () => "done")
      }
      if (bridging.lines.length > 0) {
        yield* stage("bridge", bridging.lead(activation, healthOptions), (detail) => detail)
      }
      // From here on the server replaces files, so the run can next be stopped safely after the start.
      const remarks = yield* uncancellable(stage("start", activation.started, () => plan.compose.fileName))
      const health = yield* stage(
        "health",
        Effect.flatMap(activation.seen, (seen) => awaitHealth(server, plan.compose.services, seen, healthOptions)),
        toHealthOutcome
      )
      const keptRelease = yield* activation.keptRelease
      const judged = yield* runAfterDeploy(target, plan.hooks, health, keptRelease.release)
      const result = yield* finishDeploy(server, remotePath, {
        facts: deployed,
        health: judged,
        keptRelease,
        onUnhealthy
      })
      return { keptRelease, remarks, result, sent }
    })
    const [done, remark] = yield* bridging.ledBack(activations.undoWhenCancelled(bridging.takenBack(started)))
    return { ...done, remark: describeRollouts(decision.rollouts) + remark }
  })
