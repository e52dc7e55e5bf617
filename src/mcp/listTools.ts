import type { Tool } from "./answers/Tool.ts"
import { appDrift, applyApp, planApp, planRemoval, removeApp, verifyApp } from "./tools/applications.ts"
import { applyDeploy, compare, planDeploy, rollback } from "./tools/deploys.ts"
import { listProjects, overview } from "./tools/overview.ts"
import { cancelRun, getRun, listRuns } from "./tools/runs.ts"
import { readLogs, scanServer } from "./tools/servers.ts"

/** Every tool, in the order in which an agent reads of them. */
export const tools: ReadonlyArray<Tool> = [
  overview,
  listProjects,
  planDeploy,
  applyDeploy,
  rollback,
  compare,
  readLogs,
  scanServer,
  appDrift,
  planApp,
  applyApp,
  verifyApp,
  planRemoval,
  removeApp,
  listRuns,
  getRun,
  cancelRun
]

/** The tools that an agent is shown: without those that change anything where it may only read. */
export const listTools = ({ readOnly }: { readonly readOnly: boolean }): ReadonlyArray<Tool> =>
  readOnly ? tools.filter((tool) => tool.readOnly) : tools
