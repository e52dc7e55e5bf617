import { type CareKind, isNearlyFull, type NeedsCare } from "../../schema/NeedsCare.ts"
import {
  hasFailedLastRun,
  type ObservedApplication,
  type ObservedProject,
  type ObservedServer,
  type Overview
} from "../../schema/Overview.ts"
import { formatFileProblem } from "../../schema/projects/Project.ts"
import { formatBytes } from "../../schema/words/formatBytes.ts"
import { pluralize } from "../../schema/words/pluralize.ts"
import type { BrokenRoute } from "./observeRoutes.ts"

type Observed = Pick<Overview, "applications" | "errors" | "observedAt" | "projects" | "servers">

const ofServer = ({ answers, disks, error, id, name, observedAt }: ObservedServer): ReadonlyArray<NeedsCare> => {
  const about = { name, serverId: id, observedAt } as const
  return [
    ...answers && error === undefined ? [] : [
      {
        ...about,
        kind: "server",
        severity: "bad",
        reason: error ?? "does not answer",
        action: "Check the server"
      } satisfies NeedsCare
    ],
    ...disks.filter(isNearlyFull).map((disk): NeedsCare => ({
      ...about,
      kind: "disk",
      severity: "warn",
      reason: `has ${formatBytes(disk.freeBytes)} of ${formatBytes(disk.totalBytes)} free on ${disk.mountedOn}`,
      action: "Free disk space"
    }))
  ]
}

const failedRun = (project: ObservedProject): ReadonlyArray<NeedsCare> => {
  const { lastRun, name, observedAt, path } = project
  return lastRun === null || !hasFailedLastRun(project) ? [] : [{
    kind: "run",
    severity: "bad",
    name,
    reason: `last ${lastRun.kind} ${lastRun.state === "failed" ? "failed" : "was interrupted"}` +
      (lastRun.reason === null ? "" : `: ${lastRun.reason}`),
    action: "Open the run",
    projectPath: path,
    runId: lastRun.id,
    observedAt
  }]
}

const stackOf = (
  { name, path, run, servers: [stack], state, stateReason }: ObservedProject,
  known: ReadonlySet<string>
): ReadonlyArray<NeedsCare> => {
  if (stack === undefined || run !== null || state === "running" || state === "not deployed") return []
  // The server or the file is already listed with the same reason.
  if (state === "unknown" && (stateReason === null || known.has(stateReason))) return []
  const { containers, failing, observedAt, remotePath, serverId, serverName } = stack
  const detail = state === "unknown"
    ? stateReason
    : failing !== undefined
    ? failing.map((container) => `${container.name} is ${container.status}`).join(", ")
    : containers === null
    ? null
    : `${containers.up} of ${containers.total} containers are up on ${serverName ?? serverId}`
  return [{
    kind: "stack",
    severity: state === "stopped" ? "warn" : "bad",
    name,
    reason: `is ${state}${detail === null ? "" : `: ${detail}`}`,
    action: state === "unknown" ? "Check the project" : "Read its log",
    projectPath: path,
    serverId,
    remotePath,
    observedAt
  }]
}

const ofFiles = ({ name, observedAt, path, problems }: ObservedProject): ReadonlyArray<NeedsCare> =>
  problems.map((problem) => ({
    kind: "files",
    severity: "bad",
    name,
    reason: formatFileProblem(problem),
    action: "Fix the file",
    projectPath: path,
    observedAt
  }))

const ofApplication = (
  { drift, error, name, observedAt, projectPath }: ObservedApplication,
  known: ReadonlySet<string>
): ReadonlyArray<NeedsCare> => {
  if (projectPath === null) return []
  const about = { kind: "application", name, appName: name, projectPath, observedAt } as const
  if (error !== undefined) {
    return known.has(error) ? [] : [{ ...about, severity: "bad", reason: error, action: "Check the application" }]
  }
  return drift === null || drift === 0 ? [] : [{
    ...about,
    severity: "warn",
    reason: `has ${pluralize(drift, "difference")} from its platform.json`,
    action: "See the differences"
  }]
}

const order: ReadonlyArray<CareKind> = ["server", "files", "run", "stack", "route", "application", "disk"]

const rankOf = ({ kind, severity }: NeedsCare) => (severity === "bad" ? 0 : order.length) + order.indexOf(kind)

/** Finds what needs attention, most severe first; a common cause of several problems is listed once. */
export const findNeedsCare = (
  { applications, errors, observedAt, projects, servers }: Observed,
  routes: ReadonlyArray<BrokenRoute>
): ReadonlyArray<NeedsCare> => {
  const known = new Set([
    ...errors,
    ...servers.flatMap(({ error, name }) => error === undefined ? [] : [error, `${name}: ${error}`]),
    ...projects.flatMap(({ problems }) => problems.map(formatFileProblem))
  ])
  return [
    ...servers.flatMap(ofServer),
    ...projects.flatMap((project) => [...ofFiles(project), ...failedRun(project), ...stackOf(project, known)]),
    ...routes.map(({ name, reason }): NeedsCare => ({
      kind: "route",
      severity: "bad",
      name,
      reason,
      action: "Check the routes",
      observedAt
    })),
    ...applications.flatMap((application) => ofApplication(application, known))
  ].toSorted((one, other) => rankOf(one) - rankOf(other))
}
