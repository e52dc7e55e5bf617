import { useQuery, useQueryClient, type UseQueryResult } from "@tanstack/react-query"
import { useEffect } from "react"
import type { Comparison } from "../../schema/compare.ts"
import { type ContainerPlan, countChanges } from "../../schema/deploys.ts"
import { withEnvironment } from "../../schema/environments.ts"
import { type ObservedProject, type ProjectState, toProjectState } from "../../schema/overview.ts"
import type { LocalProject } from "../../schema/projects.ts"
import { isEnded, type Run } from "../../schema/runs.ts"
import type { Container } from "../../schema/stacks.ts"
import { listDeployPlaces } from "../../schema/targets.ts"
import { decodeSegment } from "../browser.ts"
import { buildCallOptions, limitConcurrency, useCall, useOverview } from "../service.ts"
import type { Tone } from "../ui/components.tsx"

const tones: Record<ProjectState, Tone> = {
  running: "good",
  degraded: "bad",
  stopped: "warn",
  "not deployed": "idle",
  unknown: "bad"
}

/** State of a project as the service computed it, with the number of containers that are up. */
export const buildStateBadge = (
  { servers: [stack], state }: ObservedProject
): { readonly tone: Tone; readonly words: string } => {
  const containers = stack?.containers ?? null
  const up = containers === null || containers.total === 0 ? "" : ` · ${containers.up} of ${containers.total} up`
  return { tone: tones[state], words: `${state}${up}` }
}

/** Tone of a project: busy during a run, else the tone of its state. */
export const toProjectTone = (project: ObservedProject | undefined): Tone =>
  project === undefined ? "idle" : project.run !== null ? "busy" : tones[project.state]

/** Compares a project with its deployed copy; disabled without a server or a compose file. */
export const useComparison = (project: LocalProject | undefined, enabled = true): UseQueryResult<Comparison, Error> =>
  useCall(
    ["compare", project?.path, project?.serverId, project?.remotePath],
    (berth) =>
      limitConcurrency(
        berth.compareProject({
          payload: {
            projectPath: project?.path ?? "",
            ...withEnvironment(project ?? {}),
            serverId: project?.serverId ?? "",
            remotePath: project?.remotePath ?? ""
          }
        })
      ),
    {
      enabled: enabled && project !== undefined && project.serverId !== null && project.hasComposeFile,
      staleTime: 60_000
    }
  )

/** Refetches the comparison and plan of a project. */
export const useRefetchComparison = (project: LocalProject | undefined) => {
  const queries = useQueryClient()
  return () =>
    Promise.all(["compare", "plan"].map((what) => queries.invalidateQueries({ queryKey: [what, project?.path] })))
}

/** State of a project as the service observed it, with the containers of its stack. */
export interface ObservedState {
  readonly tone: Tone
  readonly words: string
  /** State of its stack; undefined before it is observed. */
  readonly state: ProjectState | undefined
  /** Reason of an unknown state. */
  readonly reason: string | null
  readonly seenAt: number
  /** Names of its containers, stopped ones included. */
  readonly containerNames: ReadonlyArray<string>
  /** Addresses of its applications. */
  readonly urls: ReadonlyArray<string>
  /** True if any of its containers is up. */
  readonly isUp: boolean
}

/** Published ports as Docker lists them, without the IPv6 duplicates. */
export const formatPublishedPorts = (containers: ReadonlyArray<Container>): string =>
  [...new Set(containers.flatMap(({ ports }) => ports.split(", ")))]
    .filter((port) => port !== "" && !port.startsWith("[::]"))
    .join(", ")

/** State of a project on its server. */
export const useProjectState = (project: LocalProject | undefined): ObservedState => {
  const overview = useOverview()
  const observed = overview.data?.projects.find(({ path }) => path === project?.path)
  if (observed === undefined) {
    const reason = overview.error?.message ?? null
    const words = reason === null ? "…" : "unknown"
    const tone = reason === null ? "idle" : "bad"
    const nothing = { containerNames: [], urls: [], isUp: false }
    return { tone, words, state: undefined, reason, seenAt: 0, ...nothing }
  }
  const stack =
    observed.servers.find(({ remotePath, serverId }) =>
      serverId === project?.serverId && remotePath === project.remotePath
    ) ?? observed.servers[0]
  const containerNames = stack?.containerNames ?? []
  // An environment has a state of its own; that of the project is the worst one.
  const shown = project?.environment === undefined || stack === undefined
    ? observed
    : { ...observed, servers: [stack], state: toProjectState(stack.state), stateReason: stack.error ?? null }
  return {
    ...buildStateBadge(shown),
    state: shown.state,
    reason: shown.state === "unknown" ? shown.stateReason : null,
    seenAt: Date.parse(stack?.observedAt ?? observed.observedAt),
    containerNames,
    urls: observed.urls,
    isUp: (stack?.containers?.up ?? 0) > 0
  }
}

/** Cache key of a project's plan. */
export const buildPlanKey = ({ path, remotePath, serverId }: LocalProject): ReadonlyArray<unknown> => [
  "plan",
  path,
  serverId,
  remotePath
]

/** True if a project names a server, be it of an environment, and has a compose file. */
export const isReady = (project: LocalProject): boolean =>
  project.hasComposeFile && listDeployPlaces(project).length > 0

/**
 * Query of the deploy plan of a project; disabled while it is not ready for a deploy.
 * @param resolves runs the programs that print its secrets; a look at a project does not
 */
export const buildPlanQuery = (project: LocalProject, enabled = true, resolves = false) =>
  buildCallOptions(
    [...buildPlanKey(project), ...resolves ? ["secrets"] : []],
    (berth) =>
      limitConcurrency(
        berth.containerPlan({
          payload: {
            projectPath: project.path,
            ...withEnvironment(project),
            serverId: project.serverId ?? "",
            remotePath: project.remotePath,
            noSecrets: !resolves
          }
        })
      ),
    { enabled: enabled && project.serverId !== null && project.hasComposeFile, staleTime: 60_000 }
  )

/** Fetches the deploy plan of a project. */
export const usePlan = (project: LocalProject, enabled = true) => useQuery(buildPlanQuery(project, enabled))

/** Fetches the plan that binds a deploy: with resolved secrets, if the project has some. */
export const useBindingPlan = (project: LocalProject) => {
  const shown = useQuery(buildPlanQuery(project))
  const hasSecrets = shown.data?.secrets !== undefined
  const resolved = useQuery(buildPlanQuery(project, hasSecrets, true))
  return hasSecrets ? resolved : shown
}

/**
 * Number of changes of a project: by its plan, or by the service's count for several targets. Refetches the plan if the
 * service has counted something else since.
 */
export const useChangeCount = (project: LocalProject, plan: ReturnType<typeof usePlan>): number => {
  const overview = useOverview()
  const counted = overview.data?.projects.find(({ path }) => path === project.path)?.changes ?? null
  const { data, dataUpdatedAt, refetch } = plan
  const planned = data === undefined ? 0 : countChanges(data)
  const hasTargets = project.targets !== undefined
  const isOld = data !== undefined && counted !== null && planned !== counted && !hasTargets &&
    overview.dataUpdatedAt > dataUpdatedAt
  useEffect(() => {
    if (isOld) void refetch()
  }, [isOld, overview.dataUpdatedAt, refetch])
  return hasTargets ? counted ?? planned : planned
}

/** Time in milliseconds until the service counts again; until then a plan of this page is newer. */
const countedWithin = 30_000

/** Counts the changes that a deploy of a project would make, consistently on all screens; null if unknown. */
export const useProjectChanges = (): (project: LocalProject) => number | null => {
  const queries = useQueryClient()
  const { data, dataUpdatedAt } = useOverview()
  return (project) => {
    const counted = data?.projects.find(({ path }) => path === project.path)?.changes ?? null
    // Reads the cached plan of another screen without querying a server.
    const plan = queries.getQueryState<ContainerPlan>(buildPlanKey(project))
    const isNewer = plan !== undefined && dataUpdatedAt < plan.dataUpdatedAt + countedWithin
    return plan?.data !== undefined && (isNewer || counted === null) ? countChanges(plan.data) : counted
  }
}

/** Counts the changes of one project, and updates with its plan. */
export const useChanges = (project: LocalProject): number | null => {
  usePlan(project, false)
  return useProjectChanges()(project)
}

export type ProjectTab = "" | "changes" | "runs" | "data" | "variables" | "application"

/** Tabs of a project's screen, by their segment of the address. `rest` of a long name is hidden on narrow screens. */
export const projectTabs: ReadonlyArray<readonly [tab: ProjectTab, name: string, rest?: string]> = [
  ["", "Now"],
  ["changes", "Changes"],
  ["runs", "Runs", "and releases"],
  ["data", "Data"],
  ["variables", "Variables"],
  ["application", "Application"]
]

/** Name of the project in an address. Browsers leave letters unescaped that a link escapes. */
export const parseProjectName = (place: string): string | undefined => {
  const [, screen, name] = place.split("/")
  return screen === "projects" && name !== undefined ? decodeSegment(name) : undefined
}

/** Link to a tab of a project's screen. */
export const buildProjectHref = (name: string, tab: ProjectTab = ""): string =>
  `/projects/${encodeURIComponent(name)}${tab === "" ? "" : `/${tab}`}`

const underWayTitles: Partial<Record<Run["kind"], string>> = {
  deploy: "Deploying",
  "deploy-all": "Deploying",
  rollback: "Rolling back",
  backup: "Backing up",
  restore: "Restoring"
}

/** Title of the latest run of a stack. */
export const formatRunTitle = ({ kind, state, subject }: Pick<Run, "kind" | "state" | "subject">): string => {
  if (!isEnded(state)) return underWayTitles[kind] ?? "Under way"
  if (kind === "deploy-all") return "Last deploy to its servers"
  return `Last ${kind === "stack" ? subject.action ?? "change" : kind}`
}
