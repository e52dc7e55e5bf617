import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { orApiError } from "../api/annotations.ts"
import { BerthApi } from "../api/BerthApi.ts"
import { loadOnUse, orMarkdown } from "../wire.ts"

const loadDeploy = () => import("../../pipelines/deploy/deploy.ts")
const loadPlan = () => import("../../pipelines/deploy/plan.ts")
const loadRollback = () => import("../../pipelines/releases/rollback.ts")
const loadRollbackPlan = () => import("../../pipelines/releases/rollback.ts")
const loadTargets = () => import("../../pipelines/targets/deployTargets.ts")
const loadTargetsPlan = () => import("../../pipelines/targets/planTargets.ts")
const loadReports = () => import("../../schema/deployReport.ts")

export const DeployHandlers = HttpApiBuilder.group(BerthApi, "deploy", (handlers) =>
  handlers
    .handle("deploy", ({ payload }) => orApiError(loadOnUse(loadDeploy, ({ deploy }) => deploy(payload))))
    .handle("containerPlan", ({ payload }) =>
      orApiError(orMarkdown(
        loadOnUse(loadPlan, ({ planContainers }) => planContainers(payload)),
        (plan) => loadOnUse(loadReports, ({ formatPlanReport }) => Effect.succeed(formatPlanReport(plan)))
      )))
    .handle("deployTargets", ({ payload }) =>
      orApiError(loadOnUse(loadTargets, ({ deployTargets }) => deployTargets(payload))))
    .handle("planTargets", ({ payload }) =>
      orApiError(
        orMarkdown(
          loadOnUse(loadTargetsPlan, ({ planTargets }) =>
            planTargets(payload)),
          ({ planHash, targets }) =>
            loadOnUse(
              loadReports,
              ({ formatTargetsReport, formatPathName }) =>
                Effect.succeed(formatTargetsReport(formatPathName(payload.projectPath), planHash, targets))
            )
        )
      ))
    .handle("planRollback", ({ payload }) =>
      orApiError(
        orMarkdown(
          loadOnUse(loadRollbackPlan, ({ planRollback }) => planRollback(payload)),
          (plan) => loadOnUse(loadReports, ({ formatRollbackReport }) => Effect.succeed(formatRollbackReport(plan)))
        )
      ))
    .handle("rollback", ({ payload }) => orApiError(loadOnUse(loadRollback, ({ rollback }) => rollback(payload)))))

const loadStackActions = () => import("../../pipelines/stacks.ts")

export const StacksHandlers = HttpApiBuilder.group(BerthApi, "stacks", (handlers) =>
  handlers
    .handle("stopStack", ({ payload }) =>
      orApiError(loadOnUse(loadStackActions, ({ executeStackAction }) =>
        executeStackAction("stop", payload))))
    .handle("startStack", ({ payload }) =>
      orApiError(loadOnUse(loadStackActions, ({ executeStackAction }) =>
        executeStackAction("start", payload))))
    .handle("restartStack", ({ payload }) =>
      orApiError(loadOnUse(loadStackActions, ({ executeStackAction }) =>
        executeStackAction("restart", payload))))
    .handle("removeStack", ({ payload }) =>
      orApiError(loadOnUse(loadStackActions, ({ executeStackAction }) =>
        executeStackAction("remove", payload))))
    .handle("planStackRemoval", ({ payload }) =>
      orApiError(loadOnUse(loadStackActions, ({ planStackRemoval }) =>
        planStackRemoval(payload)))))

const loadBackups = () => import("../../pipelines/backups/backups.ts")
const loadRestore = () => import("../../pipelines/backups/restore.ts")

export const BackupsHandlers = HttpApiBuilder.group(BerthApi, "backups", (handlers) =>
  handlers
    .handle("listBackups", ({ path, urlParams }) =>
      orApiError(loadOnUse(loadBackups, ({ listBackups }) =>
        listBackups(path.id, urlParams.remotePath))))
    .handle("backup", ({ payload }) =>
      orApiError(loadOnUse(loadBackups, ({ backup }) => backup(payload))))
    .handle("verifyBackup", ({ payload }) =>
      orApiError(loadOnUse(loadBackups, ({ verifyBackup }) =>
        verifyBackup(payload))))
    .handle("planRestore", ({ payload }) =>
      orApiError(loadOnUse(loadRestore, ({ planRestore }) => planRestore(payload))))
    .handle("restore", ({ payload }) => orApiError(loadOnUse(loadRestore, ({ restore }) => restore(payload)))))
