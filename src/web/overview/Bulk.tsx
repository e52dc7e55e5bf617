import { useMutation, useQueries, useQueryClient } from "@tanstack/react-query"
import { useRef, useState } from "react"
import type { Call } from "../../client/index.ts"
import { type ContainerPlan, countChanges } from "../../schema/deploys.ts"
import type { Overview } from "../../schema/overview.ts"
import type { LocalProject } from "../../schema/projects.ts"
import { buildPlanKey, buildPlanQuery } from "../projects/state.ts"
import { formatCount, startRun } from "../service.ts"
import { Button } from "../ui/components.tsx"
import { Confirm } from "../ui/dialogs.tsx"

/** Standing of a project in a common deploy or restart of several projects. */
interface BulkItem {
  /** `ready` is started; `planning` is awaited; `left out` is listed with its reason. */
  readonly standing: "ready" | "planning" | "left out"
  readonly words: string
}

/** Standing of a project to deploy, by its plan. */
export const buildDeployItem = (
  { data, error, isFetching }: {
    readonly data: ContainerPlan | undefined
    readonly error: Error | null
    readonly isFetching: boolean
  }
): BulkItem => {
  if (isFetching) return { standing: "planning", words: "is being planned …" }
  const blocked = error?.message ?? data?.obstacles[0]
  if (blocked !== undefined) return { standing: "left out", words: `is left out: ${blocked}` }
  if (data === undefined) return { standing: "left out", words: "is left out: it has no plan" }
  const count = countChanges(data)
  return {
    standing: "ready",
    words: count === 0 ? "nothing differs: the same stack is started again" : formatCount(count, "change")
  }
}

/** Standing of a project to restart. */
export const buildRestartItem = (isUp: boolean): BulkItem =>
  isUp
    ? { standing: "ready", words: "is restarted" }
    : { standing: "left out", words: "is left out: it does not run" }

/** Standing of a project whose place has to be chosen, on its own screen; undefined for one with a single place. */
const findChoiceItem = ({ environments, targets }: LocalProject): BulkItem | undefined => {
  const choices = targets !== undefined ? "several targets" : environments !== undefined ? "environments" : undefined
  return choices === undefined
    ? undefined
    : { standing: "left out", words: `is left out: it has ${choices}, and is deployed from its own screen` }
}

type BulkKind = "deploy" | "restart"

interface Item extends BulkItem {
  readonly project: LocalProject
  /** Starts the run; absent for a project that is always left out. */
  readonly call?: Call<unknown>
}

/** Chosen projects with their standings; fetches the plans of those to deploy. */
const useItems = (
  kind: BulkKind,
  projects: ReadonlyArray<LocalProject>,
  overview: Overview | undefined
): ReadonlyArray<Item> => {
  const plans = useQueries({
    queries: projects.map((project) =>
      buildPlanQuery(project, kind === "deploy" && findChoiceItem(project) === undefined)
    )
  })
  const isUp = ({ path }: LocalProject) =>
    (overview?.projects.find((project) => project.path === path)?.servers[0]?.containers?.up ?? 0) > 0
  return projects.map((project, index): Item => {
    const { path, remotePath, serverId } = project
    const stack = { serverId: serverId ?? "", remotePath }
    const choice = findChoiceItem(project)
    if (choice !== undefined) return { ...choice, project }
    if (kind === "restart") {
      return { ...buildRestartItem(isUp(project)), project, call: (berth) => berth.restartStack({ payload: stack }) }
    }
    const { data, error = null, isFetching = false } = plans[index] ?? {}
    const payload = { projectPath: path, ...stack, planHash: data?.planHash ?? "" }
    return { ...buildDeployItem({ data, error, isFetching }), project, call: (berth) => berth.deploy({ payload }) }
  })
}

/** Starts a run for each ready item. Returns the errors of runs that did not start, by project path. */
const startAll = async (items: ReadonlyArray<Item>): Promise<ReadonlyMap<string, string>> => {
  const ready = items.flatMap(({ call, project, standing }) =>
    standing === "ready" && call !== undefined ? [{ call, project }] : []
  )
  const started = await Promise.allSettled(ready.map(({ call }) => startRun(call)))
  return new Map(started.flatMap((each, index): ReadonlyArray<[string, string]> => {
    const path = ready[index]?.project.path
    if (each.status === "fulfilled" || path === undefined) return []
    return [[path, each.reason instanceof Error ? each.reason.message : String(each.reason)]]
  }))
}

/** Asks to deploy or restart several projects; lists the projects that are left out with the reason. */
const BulkDialog = ({ kind, onClose, onStarted, overview, projects }: {
  readonly kind: BulkKind
  readonly projects: ReadonlyArray<LocalProject>
  readonly overview: Overview | undefined
  readonly onClose: () => void
  /** Receives the paths of projects that could not be started; they stay chosen. */
  readonly onStarted: (failed: ReadonlyArray<string>) => void
}) => {
  const queries = useQueryClient()
  const items = useItems(kind, projects, overview)
  const [failures, setFailures] = useState<ReadonlyMap<string, string>>(new Map())
  // A second click can arrive before the button is rendered as disabled.
  const starting = useRef(false)
  const { isPending, mutate } = useMutation({
    mutationFn: () => startAll(items),
    onSuccess: (failed) => {
      for (const what of ["runs", "overview"]) void queries.invalidateQueries({ queryKey: [what] })
      // Refetches the plans of failed starts: the project may have changed since its plan.
      for (const project of projects) {
        if (failed.has(project.path)) void queries.invalidateQueries({ queryKey: buildPlanKey(project) })
      }
      setFailures(failed)
      onStarted([...failed.keys()])
    },
    onSettled: () => {
      starting.current = false
    }
  })
  const verb = kind === "deploy" ? "Deploy" : "Restart"
  const ready = items.filter(({ standing }) => standing === "ready").length
  const isPlanning = items.some(({ standing }) => standing === "planning")
  const action = isPending
    ? "Starting …"
    : isPlanning
    ? "Planning …"
    : ready === projects.length
    ? `${verb} them`
    : `${verb} ${formatCount(ready, "project")}`
  return (
    <Confirm
      title={failures.size === 0
        ? `${verb} ${formatCount(projects.length, "project")}?`
        : `${formatCount(projects.length, "project")} could not be started`}
      action={action}
      disabled={isPending || isPlanning || ready === 0}
      stays
      onClose={onClose}
      onConfirm={() => {
        if (starting.current) return
        starting.current = true
        mutate()
      }}
    >
      <ul className="what">
        {items.map(({ project: { name, path }, standing, words }) => {
          const failure = failures.get(path)
          return (
            <li key={path}>
              <span className="strong">{name}</span>
              <span className={standing === "left out" || failure !== undefined ? "bad" : "quiet"}>
                {failure === undefined ? words : `was not started: ${failure}`}
              </span>
            </li>
          )
        })}
      </ul>
      <p className="quiet">Each is a run of its own, which goes on when you leave this page and can be cancelled.</p>
    </Confirm>
  )
}

/** Toolbar for the chosen projects: deploys or restarts all of them. */
export const Bulk = ({ onChoose, overview, projects }: {
  readonly projects: ReadonlyArray<LocalProject>
  readonly overview: Overview | undefined
  /** Replaces the choice by the projects of these paths. */
  readonly onChoose: (paths: ReadonlyArray<string>) => void
}) => {
  const [asked, setAsked] = useState<BulkKind>()
  if (projects.length === 0) return null
  return (
    <div className="bulk" role="toolbar" aria-label="Chosen projects">
      <span className="strong grow">{formatCount(projects.length, "project")} chosen</span>
      <Button icon="play" look="small" changes onClick={() => setAsked("deploy")}>Deploy them</Button>
      <Button icon="again" look="small" changes onClick={() => setAsked("restart")}>Restart them</Button>
      <Button look="small" onClick={() => onChoose([])}>Choose none</Button>
      {asked === undefined
        ? null
        : (
          <BulkDialog
            kind={asked}
            projects={projects}
            overview={overview}
            onClose={() => setAsked(undefined)}
            onStarted={(failed) => {
              if (failed.length === 0) setAsked(undefined)
              onChoose(failed)
            }}
          />
        )}
    </div>
  )
}
