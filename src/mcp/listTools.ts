import type { Tool } from "./answers/Tool.ts"
import { appDrift, applyApp, planApp, planRemoval, removeApp, verifyApp } from "./tools/applications.ts"
import { applyDeploy, compare, planDeploy, rollback } from "./tools/deploys.ts"
import { listProjects, overview } from "./tools/overview.ts"
import { cancelRun, getRun, listRuns } from "./tools/runs.ts"
import { readLogs, scanServer } from "./tools/servers.ts"

/** All tools, in the order in which agents list them. */
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

/** Tools offered to an agent; a read-only agent gets those that change nothing. */
export const listTools = ({ readOnly }: { readonly readOnly: boolean }): ReadonlyArray<Tool> =>
  readOnly ? tools.filter((tool) => tool.readOnly) : tools
