/** The programs that endpoints call and that scripts need. They run over the services. */
export { adopt } from "../pipelines/adopt.ts"
export { adoptStack } from "../pipelines/adoption/adoptStack.ts"
export { listServerStacks, scan } from "../pipelines/adoption/serverStacks.ts"
export {
  createApplication,
  findApplication,
  listApplications,
  showApplication
} from "../pipelines/applications/applications.ts"
export { readChangelog } from "../pipelines/applications/changelog.ts"
export { listDeclaredEntries, readPlatformFile } from "../pipelines/applications/platformFile.ts"
export { build } from "../pipelines/build.ts"
export { compare } from "../pipelines/compare.ts"
export { deploy } from "../pipelines/deploy/deploy.ts"
export { planContainers } from "../pipelines/deploy/plan.ts"
export { planPrune, prune, showDiskUse } from "../pipelines/disks.ts"
export { drift, type DriftServices } from "../pipelines/drift.ts"
export { openExec } from "../pipelines/exec.ts"
export { health } from "../pipelines/health/health.ts"
export { testServer } from "../pipelines/health/testServer.ts"
export { init } from "../pipelines/init.ts"
export { readProject } from "../pipelines/inspect.ts"
export { metrics } from "../pipelines/metrics.ts"
export { makeSharedOverview } from "../pipelines/overview/overview.ts"
export { nextPort } from "../pipelines/ports.ts"
export { listProjects } from "../pipelines/projects/projects.ts"
export { pull } from "../pipelines/pull.ts"
export { compareReleases, listReleases } from "../pipelines/releases/releases.ts"
export { planRollback, rollback } from "../pipelines/releases/rollback.ts"
export { planRemoval, removeApplication } from "../pipelines/removal.ts"
export { type EditFailure, type EditServices, type PreviewFailure } from "../pipelines/routes/proxyFile.ts"
export { addRoute, listRoutes, planRoute, removeRoute } from "../pipelines/routes/routes.ts"
export { getRun, keepRecoveringRuns, listRuns, recoverRuns, watchRun } from "../pipelines/runs.ts"
export { changeProjectRecipients, checkSecrets, listSecrets, setSecret } from "../pipelines/secrets/projectSecrets.ts"
export { followLogs, followProjects, logs, type LogsQuery } from "../pipelines/servers/logs.ts"
export {
  listContainers,
  type Place,
  type PlaceRefused,
  type StackRefused,
  stats
} from "../pipelines/servers/servers.ts"
export { planServer, storeServer } from "../pipelines/servers/storeServer.ts"
export { changeSettings, showSettings } from "../pipelines/settings.ts"
export { executeStackAction, planStackRemoval } from "../pipelines/stacks.ts"
export { StatsHistory, StatsHistoryLive } from "../pipelines/StatsHistory.ts"
export { deployTargets } from "../pipelines/targets/deployTargets.ts"
export { planTargets } from "../pipelines/targets/planTargets.ts"
export { editorDiff } from "../pipelines/textDiffs.ts"
export { readPrograms, trustPrograms } from "../pipelines/trust.ts"
export type { PlanServices } from "../pipelines/upsert/step.ts"
export { planUpsert, upsert } from "../pipelines/upsert/upsert.ts"
export { verify } from "../pipelines/verify.ts"
export { setUpWebhooks, tearDownWebhooks, testWebhook, webhookStatus } from "../pipelines/webhooks/webhooks.ts"
