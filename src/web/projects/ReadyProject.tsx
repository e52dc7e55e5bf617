import { useRef, useState } from "react"
import type { LocalProject } from "../../schema/Project.ts"
import { isEnded, type Run } from "../../schema/Run.ts"
import type { Server } from "../../schema/Server.ts"
import { Logs } from "../logs/Logs.tsx"
import { CancelRun } from "../runs/CancelRun.tsx"
import { RunPanel } from "../runs/RunPanel.tsx"
import { useRun } from "../runs/useRun.ts"
import { useStartRun } from "../service/startRun.ts"
import { Button } from "../ui/Button.tsx"
import { Empty, Failure } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { useKey } from "../ui/Search.tsx"
import { counted } from "../ui/words.ts"
import { ConfirmDeploy } from "./ConfirmDeploy.tsx"
import { PlanPanel } from "./PlanPanel.tsx"
import { ProjectHead } from "./ProjectHead.tsx"
import { Releases } from "./Releases.tsx"
import { StackActions } from "./StackActions.tsx"
import { useCompareAgain, useComparison, useStanding } from "./standing.ts"
import { countChanges, usePlan } from "./usePlan.ts"
import { useStackRuns } from "./useStackRuns.ts"

const underWayWords: Partial<Record<Run["kind"], string>> = { deploy: "Deploying", rollback: "Rolling back" }

const runTitle = (run: Run | undefined): string => {
  if (run === undefined) return "Last deploy"
  if (!isEnded(run.state)) return underWayWords[run.kind] ?? "Under way"
  return `Last ${run.kind === "stack" ? run.subject.action ?? "change" : run.kind}`
}

const neverDeployed = (
  <Empty title="Not deployed from here yet" icon="play">Its steps, bytes and times will stand here.</Empty>
)

/** A project that can be deployed: how it stands, what a deploy would change, its last run, its log, its releases. */
export const ReadyProject = ({ project, server, serverId }: {
  readonly project: LocalProject
  readonly serverId: string
  readonly server: Server | undefined
}) => {
  const { name, path, remotePath } = project
  const standing = useStanding(project)
  const plan = usePlan(project)
  const comparison = useComparison(project)
  const compareAgain = useCompareAgain(project)
  const runs = useStackRuns(serverId, remotePath)
  const [started, setStarted] = useState("")
  const [asking, setAsking] = useState(false)
  // Ids sort by time: one that somebody else has started since is the newer one.
  const newest = [started, runs.data?.[0]?.id ?? ""].toSorted().at(-1)
  const watched = useRun(newest === "" ? undefined : newest)
  const { error, isPending, mutate } = useStartRun(({ id }) => setStarted(id))
  const button = useRef<HTMLButtonElement>(null)
  useKey("d", () => button.current?.focus())

  const onStarted = ({ id }: Run) => setStarted(id)
  const underWay = watched.run !== undefined && !isEnded(watched.run.state)
  const changes = plan.data === undefined ? 0 : countChanges(plan.data)
  const isBlocked = plan.data === undefined || plan.data.obstacles.length > 0
  const deploy = () => {
    setAsking(false)
    const payload = { projectPath: path, serverId, remotePath, planHash: plan.data?.planHash }
    mutate((berth) => berth.deploy({ payload }))
  }
  const deployWords = underWay
    ? `${underWayWords[watched.run.kind] ?? "Under way"} …`
    : isPending
    ? "Deploying …"
    : plan.data === undefined
    ? "Deploy"
    : changes === 0
    ? "Deploy again"
    : `Deploy ${counted(changes, "change")}`
  return (
    <>
      <ProjectHead project={project} server={server} standing={standing}>
        <Button icon="again" disabled={plan.isFetching} onClick={compareAgain}>Compare again</Button>
        <Button
          ref={button}
          icon="play"
          look="main-action"
          disabled={underWay || isPending || isBlocked}
          onClick={() => setAsking(true)}
        >
          {deployWords}
          <kbd aria-hidden="true">d</kbd>
        </Button>
      </ProjectHead>
      {standing.error === null ? null : (
        <Panel title="Its containers cannot be seen">
          <Failure error={standing.error} />
        </Panel>
      )}
      {error === null ? null : (
        <Panel title="The deploy was not started">
          <Failure error={error} again={compareAgain} />
        </Panel>
      )}
      <div className="columns">
        <PlanPanel plan={plan} comparison={comparison} />
        <RunPanel
          title={runTitle}
          watched={watched}
          aside={underWay ? <CancelRun run={watched.run} /> : undefined}
          {...newest === "" && !runs.isPending ? { empty: neverDeployed } : {}}
        />
      </div>
      {standing.containers.length === 0
        ? null
        : <Logs key={remotePath} name={name} serverId={serverId} target={{ remotePath }} />}
      <Releases project={project} serverId={serverId} onStarted={onStarted} />
      {runs.data === undefined || runs.data.length === 0 ? null : (
        <StackActions
          name={name}
          stack={{ serverId, remotePath }}
          runs={standing.containers.length > 0}
          onStarted={onStarted}
        />
      )}
      {asking && plan.data !== undefined
        ? (
          <ConfirmDeploy
            project={project}
            server={server}
            plan={plan.data}
            onConfirm={deploy}
            onClose={() => setAsking(false)}
          />
        )
        : null}
    </>
  )
}
