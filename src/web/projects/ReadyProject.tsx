import { type ReactNode, useState } from "react"
import { useLocation } from "wouter"
import type { LocalProject } from "../../schema/projects/Project.ts"
import { isEnded, type Run } from "../../schema/runs/Run.ts"
import type { Server } from "../../schema/servers/Server.ts"
import { CancelRun } from "../runs/CancelRun.tsx"
import { RunStrip } from "../runs/RunStrip.tsx"
import { useRun } from "../runs/useRun.ts"
import { useStackRuns } from "../runs/useStackRuns.ts"
import { Failure } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { DeployDialog } from "./DeployDialog.tsx"
import { formatRunTitle } from "./formatRunTitle.ts"
import { ProjectActions } from "./ProjectActions.tsx"
import { ProjectFacts, ProjectHead } from "./ProjectHead.tsx"
import { buildProjectHref, type ProjectTab } from "./projectHref.ts"
import { ProjectPart } from "./ProjectPart.tsx"
import { Remedies } from "./Remedies.tsx"
import { useProjectState } from "./state/projectState.ts"
import { useChangeCount } from "./state/useChangeCount.ts"
import { usePlan } from "./state/usePlan.ts"
import { Tabs } from "./Tabs.tsx"

/** Newest run of the stack: the one that was started here, or a newer one of another user. Ids sort by time. */
const useNewestRun = (serverId: string, remotePath: string, started: string) => {
  const last = useStackRuns(serverId, remotePath).data?.[0]
  const newest = [started, last?.parent ?? last?.id ?? ""].toSorted().at(-1)
  return useRun(newest === "" ? undefined : newest)
}

/** Screen of a deployable project: header with the tabs, the current or last run, and the chosen tab. */
export const ReadyProject = ({ choice, project, server, serverId, tab }: {
  readonly project: LocalProject
  /** Control that selects one of several targets. */
  readonly choice: ReactNode
  readonly serverId: string
  readonly server: Server | undefined
  readonly tab: ProjectTab
}) => {
  const { hasPlatformJson, name, remotePath } = project
  const [, go] = useLocation()
  const standing = useProjectState(project)
  const plan = usePlan(project)
  const changes = useChangeCount(project, plan)
  const [started, setStarted] = useState("")
  const [asking, setAsking] = useState(false)
  const watched = useNewestRun(serverId, remotePath, started)
  const run = watched.run !== undefined && !isEnded(watched.run.state) ? watched.run : undefined
  const onStarted = ({ id }: Run) => setStarted(id)
  const shown = new Set<ProjectTab>([
    "",
    "changes",
    "runs",
    "variables",
    ...hasPlatformJson ? ["application" as const] : []
  ])
  const part = { project, serverId, standing, plan, onStarted }
  return (
    <div className="page">
      <ProjectHead
        name={name}
        standing={standing}
        tabs={<Tabs name={name} current={tab} shown={shown} counts={{ changes }} />}
        actions={
          <ProjectActions
            {...part}
            changes={changes}
            run={run}
            choice={choice}
            onDeploy={() => setAsking(true)}
          />
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
        title={formatRunTitle}
        watched={watched}
        aside={run === undefined ? undefined : <CancelRun run={run} />}
        next={watched.run === undefined ? undefined : <Remedies run={watched.run} onStarted={onStarted} />}
      />
      <ProjectPart {...part} tab={tab} />
      {asking
        ? (
          <DeployDialog
            project={project}
            onClose={() => setAsking(false)}
            onStarted={(deploy) => {
              onStarted(deploy)
              if (tab !== "" && tab !== "changes") go(buildProjectHref(name))
            }}
          />
        )
        : null}
    </div>
  )
}
