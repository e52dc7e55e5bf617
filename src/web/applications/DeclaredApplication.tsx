import { useState } from "react"
import { isEnded } from "../../schema/runs/Run.ts"
import { CancelRun } from "../runs/CancelRun.tsx"
import { RunPanel } from "../runs/RunPanel.tsx"
import { useOverview, useProjects } from "../service/queries.ts"
import { Head } from "../ui/Head.tsx"
import { Empty, Failure, Waiting } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { Changelog } from "./Changelog.tsx"
import { DeclaredHead, underApplications } from "./DeclaredHead.tsx"
import { DriftPanel } from "./DriftPanel.tsx"
import { ConfirmUpsert } from "./upsert/ConfirmUpsert.tsx"
import { UpsertPlan } from "./upsert/UpsertPlan.tsx"
import { useUpsertPlan } from "./upsert/useUpsertPlan.ts"
import { useUpsertRun } from "./upsert/useUpsertRun.ts"
import { useDeclared } from "./useDeclared.ts"
import { useDrift } from "./useDrift.ts"
import { useRemoval } from "./useRemoval.tsx"
import { Variables } from "./Variables.tsx"
import { VerifyPanel } from "./VerifyPanel.tsx"
import { WebhookPanel } from "./WebhookPanel.tsx"

const UnknownProject = ({ appName, projectName }: { readonly appName: string; readonly projectName: string }) => {
  const { data, error, refetch } = useProjects()
  return (
    <div className="page">
      <Head title={appName} under={underApplications} />
      <Panel title="Projects">
        {data !== undefined
          ? <Empty title={`There is no project named ${projectName}`} icon="applications" />
          : error === null
          ? <Waiting what="the application" />
          : <Failure error={error} again={refetch} />}
      </Panel>
    </div>
  )
}

/** Screen of a declared application: plan, drift and verification. */
export const DeclaredApplication = ({ appName, projectName }: {
  readonly projectName: string
  readonly appName: string
}) => {
  const project = useProjects().data?.find(({ name }) => name === projectName)
  const projectPath = project?.path ?? ""
  const declared = useDeclared(project).data?.find(({ name }) => name === appName)
  const observed = useOverview().data?.applications.find((each) =>
    each.name === appName && each.projectPath === projectPath
  )
  const drift = useDrift(projectPath, appName)
  const plan = useUpsertPlan(projectPath, appName)
  const { isNeverApplied, upsert, watched } = useUpsertRun(projectPath, appName)
  const [asking, setAsking] = useState(false)
  const removal = useRemoval()
  if (project === undefined) return <UnknownProject appName={appName} projectName={projectName} />
  const underWay = watched.run !== undefined && !isEnded(watched.run.state)
  const isApplying = underWay || upsert.isPending
  const uuid = drift.data?.app?.uuid
  const lookAgain = () => Promise.all([drift.refetch(), plan.refetch()])
  return (
    <div className="page">
      <DeclaredHead
        application={{ appName, project, declared, status: observed?.status ?? null }}
        drift={drift}
        plan={plan}
        isApplying={isApplying}
        onLookAgain={lookAgain}
        onRemove={(uuid) => removal.ask({ uuid, name: appName, declaredBy: project.name })}
        onApply={() => setAsking(true)}
      />
      {upsert.error === null ? null : (
        <Panel title="Nothing was applied">
          <Failure error={upsert.error} again={lookAgain} />
        </Panel>
      )}
      <div className="columns loose">
        <div className="page">
          <UpsertPlan plan={plan} />
          <VerifyPanel projectPath={projectPath} appName={appName} />
        </div>
        <RunPanel
          title={() => (underWay ? "Applying" : "Last upsert")}
          watched={watched}
          aside={underWay && watched.run !== undefined ? <CancelRun run={watched.run} /> : undefined}
          {...isNeverApplied
            ? { empty: <Empty title="Never applied from here" icon="play">Its steps will stand here.</Empty> }
            : {}}
        />
      </div>
      <DriftPanel drift={drift} />
      <div className="halves">
        <WebhookPanel appName={appName} />
        {uuid === undefined ? null : <Variables uuid={uuid} />}
      </div>
      <Changelog projectPath={projectPath} appName={appName} />
      {removal.dialog}
      {asking && plan.data !== undefined
        ? (
          <ConfirmUpsert
            plan={plan.data}
            onClose={() => setAsking(false)}
            onConfirm={(planHash) => {
              setAsking(false)
              upsert.mutate((berth) => berth.upsert({ payload: { projectPath, appName, planHash } }))
            }}
          />
        )
        : null}
    </div>
  )
}
