import { useQueryClient, type UseQueryResult } from "@tanstack/react-query"
import type { ProjectState } from "../../../schema/Overview.ts"
import type { Comparison } from "../../../schema/projects/Compare.ts"
import type { LocalProject } from "../../../schema/projects/Project.ts"
import type { Container } from "../../../schema/servers/Container.ts"
import { limitConcurrency, useCall, useOverview } from "../../service/queries.ts"
import type { Tone } from "../../ui/tone.ts"
import { buildStateBadge } from "./stateBadge.ts"

/** Compares a project with its deployed copy; disabled without a server or a compose file. */
export const useComparison = (project: LocalProject | undefined, enabled = true): UseQueryResult<Comparison, Error> =>
  useCall(
    ["compare", project?.path, project?.serverId, project?.remotePath],
    (berth) =>
      limitConcurrency(
        berth.compareProject({
          payload: {
            projectPath: project?.path ?? "",
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
  return {
    ...buildStateBadge(observed),
    state: observed.state,
    reason: observed.state === "unknown" ? observed.stateReason : null,
    seenAt: Date.parse(stack?.observedAt ?? observed.observedAt),
    containerNames,
    urls: observed.urls,
    isUp: (stack?.containers?.up ?? 0) > 0
  }
}
