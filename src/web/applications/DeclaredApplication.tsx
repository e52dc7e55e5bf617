import { useState } from "react"
import { Link } from "wouter"
import { isEnded } from "../../schema/runs/Run.ts"
import { CancelRun } from "../runs/CancelRun.tsx"
import { RunPanel } from "../runs/RunPanel.tsx"
import { limitConcurrency, useCall, useOverview, useProjects } from "../service/queries.ts"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { Head } from "../ui/Head.tsx"
import { Empty, Failure, Waiting } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { formatCount } from "../ui/words.ts"
import { Changelog } from "./Changelog.tsx"
import { ConfirmUpsert } from "./ConfirmUpsert.tsx"
import { DriftBadge } from "./DriftBadge.tsx"
import { DriftPanel } from "./DriftPanel.tsx"
import { statusTone } from "./statusTone.ts"
import { UpsertPlan } from "./UpsertPlan.tsx"
import { useDeclared } from "./useDeclared.ts"
import { useDrift } from "./useDrift.ts"
import { RemoveButton, useRemoval } from "./useRemoval.tsx"
import { useUpsertRun } from "./useUpsertRun.ts"
import { Variables } from "./Variables.tsx"
import { VerifyPanel } from "./VerifyPanel.tsx"
import { WebhookPanel } from "./WebhookPanel.tsx"

/** Screen of a declared application: plan, drift and verification. */
export const DeclaredApplication = ({ appName, projectName }: {
  readonly projectName: string
  readonly appName: string
}) => {
  const projects = useProjects()
  const project = projects.data?.find(({ name }) => name === projectName)
  const projectPath = project?.path ?? ""
  const declared = useDeclared(project).data?.find(({ name }) => name === appName)
  const observed = useOverview().data?.applications.find((each) =>
    each.name === appName && each.projectPath === projectPath
  )
  const drift = useDrift(projectPath, appName)
  const plan = useCall(
    ["upsert plan", projectPath, appName],
    (berth) => limitConcurrency(berth.platformPlan({ payload: { projectPath, appName } })),
    { enabled: projectPath !== "", staleTime: 60_000 }
  )
  const { isNeverApplied, upsert, watched } = useUpsertRun(projectPath, appName)
  const [asking, setAsking] = useState(false)
  const removal = useRemoval()
  const under = { name: "Applications", href: "/applications" }
  if (project === undefined) {
    return (
      <div className="page">
        <Head title={appName} under={under} />
        <Panel title="Projects">
          {projects.error !== null && projects.data === undefined
            ? <Failure error={projects.error} again={projects.refetch} />
            : projects.data === undefined
            ? <Waiting what="the application" />
            : <Empty title={`There is no project named ${projectName}`} icon="applications" />}
        </Panel>
      </div>
    )
  }
  const underWay = watched.run !== undefined && !isEnded(watched.run.state)
  const uuid = drift.data?.app?.uuid
  const changes = plan.data?.changes.length ?? 0
  const lookAgain = () => Promise.all([drift.refetch(), plan.refetch()])
  return (
    <div className="page">
      <Head
        title={appName}
        under={under}
        state={
          <>
            {observed?.status === null || observed === undefined
              ? null
              : <Badge tone={statusTone(observed.status)}>{observed.status}</Badge>}
            <DriftBadge drift={drift} />
          </>
        }
        facts={[
          [
            "Project",
            <Link className="link" href={`/projects/${encodeURIComponent(project.name)}`}>{project.name}</Link>
          ],
          ...typeof declared?.domain === "string" ? [["Domain", <code>{declared.domain}</code>] as const] : [],
          ...typeof declared?.entry["port"] === "number"
            ? [["Port", <code>{declared.entry["port"]}</code>] as const]
            : [],
          ...uuid === undefined ? [] : [["Uuid", <code>{uuid}</code>] as const]
        ]}
        actions={
          <>
            <Button icon="again" disabled={plan.isFetching || drift.isFetching} onClick={lookAgain}>Look again</Button>
            {uuid === undefined
              ? null
              : (
                <RemoveButton
                  name={appName}
                  onAsk={() => removal.ask({ uuid, name: appName, declaredBy: project.name })}
                />
              )}
            <Button
              icon="play"
              changes
              look="main-action"
              disabled={underWay || upsert.isPending || plan.data === undefined || plan.data.action === "none"}
              onClick={() => setAsking(true)}
            >
              {underWay || upsert.isPending
                ? "Applying …"
                : plan.data?.action === "create"
                ? "Create the application"
                : changes === 0
                ? "Nothing to apply"
                : `Apply ${formatCount(changes, "change")}`}
            </Button>
          </>
        }
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
