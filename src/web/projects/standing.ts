import { useQueryClient, type UseQueryResult } from "@tanstack/react-query"
import type { Comparison } from "../../schema/Compare.ts"
import type { Container } from "../../schema/Container.ts"
import type { LocalProject } from "../../schema/Project.ts"
import { lastName } from "../runs/runWords.ts"
import { aFewAtOnce, useCall, useContainers } from "../service/queries.ts"
import type { Tone } from "../ui/Badge.tsx"

/** The files of a comparison that a deploy would bring or change. */
export const changesOf = ({ files }: Comparison) =>
  files.filter(({ status }) => status === "different" || status === "local-only")

/** A project beside its deployed copy; nothing is asked while it names no server. */
export const useComparison = (project: LocalProject | undefined, enabled = true): UseQueryResult<Comparison, Error> =>
  useCall(
    ["compare", project?.path, project?.serverId, project?.remotePath],
    (berth) =>
      aFewAtOnce(
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

/** Compares a project again now. */
export const useCompareAgain = (project: LocalProject | undefined) => {
  const queries = useQueryClient()
  return () =>
    Promise.all(["compare", "plan"].map((what) => queries.invalidateQueries({ queryKey: [what, project?.path] })))
}

/** The containers of a project, by the names that compose gives them. */
export const containersOf = (project: LocalProject, containers: ReadonlyArray<Container>): ReadonlyArray<Container> => {
  const stack = lastName(project.remotePath)
  return containers.filter(({ name }) =>
    name === stack || name === project.name || name.startsWith(`${stack}-`) || name.startsWith(`${stack}_`)
  )
}

/** How a stack stands, by what Docker says of its containers, and when it said so. */
export interface Standing {
  readonly tone: Tone
  readonly words: string
  readonly seenAt: number
  readonly containers: ReadonlyArray<Container>
  readonly error: Error | null
}

/** The ports of containers as Docker lists them, without those that it lists again for IPv6. */
export const portsOf = (containers: ReadonlyArray<Container>): string =>
  [...new Set(containers.flatMap(({ ports }) => ports.split(", ")))]
    .filter((port) => port !== "" && !port.startsWith("[::]"))
    .join(", ")

const toneOf = (status: string): Tone =>
  /unhealthy|restarting|dead|exited/i.test(status) ? "bad" : /starting|paused|created/i.test(status) ? "warn" : "good"

const severity: ReadonlyArray<Tone> = ["bad", "warn", "good"]

const wordsOf = (status: string) => status.replace(/ \((?:health: )?(\w+)\)$/, " · $1")

/** How the stack of a project stands on its server. */
export const useStanding = (project: LocalProject | undefined): Standing => {
  const { data, dataUpdatedAt, error, isPending } = useContainers(project?.serverId ?? null)
  const none = { seenAt: dataUpdatedAt, containers: [], error }
  if (project === undefined || project.serverId === null) return { ...none, tone: "idle", words: "no server yet" }
  if (data === undefined) return { ...none, tone: error === null ? "idle" : "bad", words: isPending ? "…" : "unknown" }
  const containers = containersOf(project, data.containers)
  const tones = containers.map(({ status }) => toneOf(status))
  const tone = severity.find((each) => tones.includes(each)) ?? "idle"
  const worst = containers.find(({ status }) => toneOf(status) === tone)
  const words = worst === undefined
    ? "does not run"
    : containers.length === 1
    ? wordsOf(worst.status)
    : `${containers.length} containers · ${wordsOf(worst.status)}`
  return { tone, words, seenAt: dataUpdatedAt, containers, error }
}
