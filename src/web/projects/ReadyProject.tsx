import { type ReactNode, useCallback, useEffect, useRef, useState } from "react"
import { useLocation } from "wouter"
import { countChanges } from "../../schema/deploy/plannedChanges.ts"
import type { LocalProject } from "../../schema/projects/Project.ts"
import { isEnded, type Run } from "../../schema/runs/Run.ts"
import type { Server } from "../../schema/servers/Server.ts"
import { formatCount } from "../format/format.ts"
import { CancelRun } from "../runs/CancelRun.tsx"
import { RunStrip } from "../runs/RunStrip.tsx"
import { useRun } from "../runs/useRun.ts"
import { useStackRuns } from "../runs/useStackRuns.ts"
import { useOverview } from "../service/queries.ts"
import { Button } from "../ui/Button.tsx"
import { Failure } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { useKey } from "../ui/Search.tsx"
import { DeployDialog } from "./DeployDialog.tsx"
import { ProjectFacts, ProjectHead } from "./ProjectHead.tsx"
import { projectHref, type ProjectTab } from "./projectHref.ts"
import { ProjectPart } from "./ProjectPart.tsx"
import { useProjectState } from "./projectState.ts"
import { Remedies } from "./Remedies.tsx"
import { StackMenu } from "./StackMenu.tsx"
import { Tabs } from "./Tabs.tsx"
import { usePlan } from "./usePlan.ts"

const underWayWords: Partial<Record<Run["kind"], string>> = {
  deploy: "Deploying",
  "deploy-all": "Deploying",
  rollback: "Rolling back"
}

const runTitle = (run: Run): string => {
  if (!isEnded(run.state)) return underWayWords[run.kind] ?? "Under way"
  if (run.kind === "deploy-all") return "Last deploy to its servers"
  return `Last ${run.kind === "stack" ? run.subject.action ?? "change" : run.kind}`
}

/**
 * Number of changes of a project: that of its plan, and of several targets the one that the service has counted. Refetches
 * the plan where the service has counted something else since.
 */
const useChangeCount = (project: LocalProject, plan: ReturnType<typeof usePlan>): number => {
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

/** Deployable project: its head with the tabs, the run under way or the last one, and the chosen tab. */
export const ReadyProject = ({ choice, project, server, serverId, tab }: {
  readonly project: LocalProject
  /** Chooses which of several targets is shown. */
  readonly choice: ReactNode
  readonly serverId: string
  readonly server: Server | undefined
  readonly tab: ProjectTab
}) => {
  const { name, remotePath } = project
  const [, go] = useLocation()
  const standing = useProjectState(project)
  const plan = usePlan(project)
  const changes = useChangeCount(project, plan)
  const runs = useStackRuns(serverId, remotePath)
  const [started, setStarted] = useState("")
  const [asking, setAsking] = useState(false)
  // Ids sort by time: another user may have started a newer run.
  const last = runs.data?.[0]
  const newest = [started, last?.parent ?? last?.id ?? ""].toSorted().at(-1)
  const watched = useRun(newest === "" ? undefined : newest)
  const button = useRef<HTMLButtonElement>(null)
  useKey("d", useCallback(() => button.current?.focus(), []))
  const onStarted = ({ id }: Run) => setStarted(id)
  const underWay = watched.run !== undefined && !isEnded(watched.run.state)
  const isBlocked = project.targets === undefined && (plan.data === undefined || plan.data.obstacles.length > 0)
  const deployWords = underWay
    ? `${underWayWords[watched.run.kind] ?? "Under way"} …`
    : plan.data === undefined
    ? "Deploy"
    : changes === 0
    ? "Deploy again"
    : `Deploy ${formatCount(changes, "change")}`
  const shown = new Set<ProjectTab>([
    "",
    "changes",
    "runs",
    "variables",
    ...project.hasPlatformJson ? ["application" as const] : []
  ])
  return (
    <div className="page">
      <ProjectHead
        name={name}
        standing={standing}
        tabs={<Tabs name={name} current={tab} shown={shown} counts={{ changes }} />}
        actions={
          <>
            {choice}
            <Button
              ref={button}
              icon="play"
              changes
              look="main-action deploy-button"
              disabled={underWay || isBlocked}
              onClick={() => setAsking(true)}
            >
              {deployWords}
              <kbd aria-hidden="true">d</kbd>
            </Button>
            <StackMenu
              label={`More for ${name}`}
              name={name}
              stack={{ serverId, remotePath }}
              state={standing.state}
              isUp={standing.isUp}
              underWay={underWay}
              onStarted={onStarted}
            >
              <Button look="menu-item" icon="servers" onClick={() => go(`/servers/${encodeURIComponent(serverId)}`)}>
                Go to its server
              </Button>
            </StackMenu>
          </>
        }
      />
      <ProjectFacts project={project} server={server} urls={standing.urls} />
      {standing.reason === null ? null : (
        <Panel title="The state of its containers is unknown">
          <Failure error={new Error(standing.reason)} />
        </Panel>
      )}
      {tab === "changes" ? null : (
        <>
          <Failure error={plan.error} again={plan.refetch} />
          {(plan.data?.obstacles ?? []).map((obstacle) => <Failure key={obstacle} error={new Error(obstacle)} />)}
        </>
      )}
      <RunStrip
        title={runTitle}
        watched={watched}
        aside={underWay ? <CancelRun run={watched.run} /> : undefined}
        next={watched.run === undefined ? undefined : <Remedies run={watched.run} onStarted={onStarted} />}
      />
      <ProjectPart
        tab={tab}
        project={project}
        serverId={serverId}
        standing={standing}
        plan={plan}
        onStarted={onStarted}
      />
      {asking
        ? (
          <DeployDialog
            project={project}
            onClose={() => setAsking(false)}
            onStarted={(run) => {
              onStarted(run)
              if (tab !== "" && tab !== "changes") go(projectHref(name))
            }}
          />
        )
        : null}
    </div>
  )
}
