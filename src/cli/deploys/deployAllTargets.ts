import { Effect } from "effect"
import { Berth } from "../../client/Berth.ts"
import { outcomeWords } from "../../schema/targets/outcomeWords.ts"
import type { DeployedTarget, PlannedTarget } from "../../schema/targets/Targets.ts"
import { formatDeployPlan, hasPlannedChanges } from "../plans/deployPlan.ts"
import { followRun } from "../runs/followRun.ts"
import { Failed } from "../terminal/commandErrors.ts"
import { confirm } from "../terminal/confirm.ts"
import { exitCodes } from "../terminal/exitCodes.ts"
import { formatTable } from "../terminal/formatTable.ts"
import { escapeInline } from "../terminal/safeText.ts"
import { Screen, type Surface } from "../terminal/Screen.ts"
import { makeStyler } from "../terminal/style.ts"
import { wrapText } from "../terminal/wrapText.ts"
import { printDeployEnd } from "./printDeployEnd.ts"
import { buildFirst, projectName, startWithoutWaiting } from "./startDeploy.ts"

interface TargetsInput {
  readonly build: boolean
  readonly detailed: boolean
  readonly dryRun: boolean
  readonly json: boolean
  readonly noWait: boolean
  readonly parallel: boolean
  readonly yes: boolean
}

const targetLines = (name: string, surface: Surface) => ({ error, plan, remotePath, server }: PlannedTarget) => [
  `Deploy ${name} to ${escapeInline(`${remotePath} on ${server}`)}:`,
  ...plan === null
    ? [makeStyler(surface)("red", `  ✗ ${escapeInline(error ?? "cannot be planned")}`)]
    : formatDeployPlan(plan, surface)
]

const isReady = ({ plan }: PlannedTarget) => plan !== null && plan.obstacles.length === 0

const resultTable = (targets: ReadonlyArray<DeployedTarget>, surface: Surface) =>
  formatTable(
    ["SERVER", "PATH", "OUTCOME", "RUN"],
    targets.map(({ outcome, remotePath, runId, server }) => [server, remotePath, outcomeWords[outcome], runId ?? ""]),
    surface
  )

/** Shows the plans for all targets of a project, asks once, and deploys to them; returns the exit code. */
export const deployAllTargets = (projectPath: string, input: TargetsInput) =>
  Effect.gen(function*() {
    const { answer } = yield* Berth
    const { err, out, print, say } = yield* Screen
    const name = projectName(projectPath)
    if (input.build && !input.dryRun) yield* buildFirst(projectPath)
    const { body, value: plan } = yield* answer((api) => api.planTargets({ payload: { projectPath } }))
    const canDeploy = plan.targets.every(isReady)
    const refusal = `${name} cannot be deployed to all of its targets now`
    if (input.dryRun) {
      const lines = plan.targets.flatMap(targetLines(name, out))
      yield* print(input.json ? body : wrapText(lines.join("\n"), out))
      if (!canDeploy) {
        yield* say(`${refusal}.`)
        return exitCodes.failed
      }
      const changes = plan.targets.some((target) => target.plan !== null && hasPlannedChanges(target.plan))
      return input.detailed && changes ? exitCodes.differs : exitCodes.done
    }
    yield* say(plan.targets.flatMap(targetLines(name, err)).join("\n"))
    if (!canDeploy) {
      return yield* new Failed({ message: `${refusal}: nothing was changed. --server deploys to one of them` })
    }
    const isParallel = input.parallel || plan.parallel
    const question = `Deploy ${name} to ${plan.targets.length} targets${
      isParallel ? " at once" : ", one after the other"
    }?`
    if (!(yield* confirm(question, input.yes))) return exitCodes.failed
    const payload = { projectPath, parallel: isParallel, planHash: plan.planHash }
    if (input.noWait) {
      return yield* startWithoutWaiting(projectPath, (api) => api.deployTargets({ payload }), input.json)
    }
    const deployed = yield* followRun((api) => api.deployTargets({ payload }))
    if (input.json) yield* print(deployed.body)
    yield* say(resultTable(deployed.value.targets, err))
    return yield* printDeployEnd(deployed.value, input.json ? [] : deployed.next)
  })
