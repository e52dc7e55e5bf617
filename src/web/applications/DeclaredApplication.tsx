import type { UseQueryResult } from "@tanstack/react-query"
import { useState } from "react"
import { Link } from "wouter"
import { isEnded } from "../../schema/runs.ts"
import type { PlanChange, PlatformPlan } from "../../schema/upsert.ts"
import { CancelRun, RunPanel } from "../runs/RunPanel.tsx"
import {
  formatCount,
  formatValue,
  limitConcurrency,
  minPollMillis,
  useCall,
  useOverview,
  useProjects,
  useRun,
  useStartRun
} from "../service.ts"
import { Age, Badge, Button, Empty, Failure, Head, Icon, Loading, Panel, Waiting, Warnings } from "../ui/components.tsx"
import { Confirm } from "../ui/dialogs.tsx"
import { Findings, useWebhooks, WebhookBadge } from "../webhooks/Webhooks.tsx"
import { Changelog, Variables } from "./Changelog.tsx"
import { type DeclaredEntry, DriftBadge, DriftPanel, toStatusTone, useDeclared, useDrift } from "./Drift.tsx"
import { RemoveButton, useRemoval } from "./LiveApplication.tsx"

/** Row of a planned change. */
const Change = ({ change: { label, new: after, old: before, target } }: { readonly change: PlanChange }) => (
  <div className="change">
    <span>
      <span className="strong">{label}</span>{" "}
      {label.toLowerCase().includes(target.toLowerCase()) ? null : <span className="quiet">{target}</span>}
    </span>
    <span className="from-to">
      {before === null ? null : (
        <>
          <code className="old">{formatValue(before)}</code>
          <span className="quiet">becomes</span>
        </>
      )}
      <code className="new">{formatValue(after)}</code>
    </span>
  </div>
)

const signs = { change: ["warn", "~"], nothing: ["", "="], skip: ["", "–"] } as const

/** Planned changes on the platform, in the proxy file and on the git host. */
const UpsertPlan = ({ plan: { data, dataUpdatedAt, error, isFetching, refetch } }: {
  readonly plan: UseQueryResult<PlatformPlan, Error>
}) => {
  const stays = data?.stays ?? []
  return (
    <Panel
      title="Plan"
      note={data === undefined
        ? undefined
        : data.action === "none"
        ? stays.length > 0
          ? `Nothing would change, ${formatCount(stays.length, "difference")} would stay`
          : "Nothing would change"
        : `${formatCount(data.changes.length, "change")}${data.action === "create" ? ", the application is new" : ""}`}
      aside={isFetching ? <span>planning …</span> : <Age at={dataUpdatedAt} before="planned " />}
    >
      <Loading query={{ data, error, refetch }} what="the plan" />
      {data === undefined ? null : (
        <>
          <Warnings texts={[...data.warnings, ...data.unknown]} />
          <Warnings
            texts={stays.map(({ label, live, remedy }) => `${label} stays different (${formatValue(live)}): ${remedy}`)}
          />
          {data.changes.length === 0
            ? stays.length > 0
              ? null
              : <Empty title="The platform has what is declared" icon="check">An upsert would change nothing.</Empty>
            : (
              <div>
                {data.changes.map((change) => <Change key={`${change.target} ${change.field}`} change={change} />)}
              </div>
            )}
          <details className="more">
            <summary>Its {data.steps.length} steps</summary>
            <ul className="rows">
              {data.steps.map(({ detail, step, will }) => (
                <li key={step}>
                  <span className={`sign ${signs[will][0]}`} aria-hidden="true">{signs[will][1]}</span>
                  <span className="strong">{step}</span>
                  <span className="unseen">{will}</span>
                  <span className="grow quiet">{detail}</span>
                </li>
              ))}
            </ul>
          </details>
        </>
      )}
    </Panel>
  )
}

const maxNamedChanges = 12

/** Summarizes the plan of an upsert and asks to confirm it. */
const ConfirmUpsert = ({ onClose, onConfirm, plan: { action, appName, changes, planHash } }: {
  readonly plan: PlatformPlan
  readonly onConfirm: (planHash: string) => void
  readonly onClose: () => void
}) => (
  <Confirm
    title={`${action === "create" ? "Create" : "Update"} ${appName} on the platform?`}
    action={action === "create" ? "Create it" : `Apply ${formatCount(changes.length, "change")}`}
    onClose={onClose}
    onConfirm={() => onConfirm(planHash)}
  >
    <div>
      {changes.slice(0, maxNamedChanges).map((change) => (
        <Change key={`${change.target} ${change.field}`} change={change} />
      ))}
    </div>
    <p className="quiet">If anything has moved since this plan was made, nothing is changed.</p>
  </Confirm>
)

/** Fetches the plan of an upsert. */
const useUpsertPlan = (projectPath: string, appName: string) =>
  useCall(
    ["upsert plan", projectPath, appName],
    (berth) => limitConcurrency(berth.platformPlan({ payload: { projectPath, appName } })),
    { enabled: projectPath !== "", staleTime: 60_000 }
  )

/** Starts upserts of an application and follows that run, else the latest one. */
const useUpsertRun = (projectPath: string, appName: string) => {
  const runs = useCall(
    ["runs", "upserts", projectPath, appName],
    (berth) => berth.listRuns({ urlParams: { projectPath, appName, kind: "upsert", limit: 1 } }),
    { enabled: projectPath !== "", every: minPollMillis }
  )
  const [started, setStarted] = useState<string>()
  const runId = started ?? runs.data?.runs[0]?.id
  return {
    upsert: useStartRun(({ id }) => setStarted(id)),
    watched: useRun(runId),
    isNeverApplied: runId === undefined && !runs.isPending
  }
}

/** Screen that an application's screen is under. */
const underApplications = { name: "Applications", href: "/applications" }

interface Shown {
  readonly appName: string
  readonly project: { readonly name: string }
  readonly declared: DeclaredEntry | undefined
  /** Status on the platform, if known. */
  readonly status: string | null
}

const factsOf = ({ declared, project }: Shown, uuid: string | undefined) => {
  const port = declared?.entry["port"]
  return [
    ["Project", <Link className="link" href={`/projects/${encodeURIComponent(project.name)}`}>{project.name}</Link>],
    ...typeof declared?.domain === "string" ? [["Domain", <code>{declared.domain}</code>] as const] : [],
    ...typeof port === "number" ? [["Port", <code>{port}</code>] as const] : [],
    ...uuid === undefined ? [] : [["Uuid", <code>{uuid}</code>] as const]
  ] as const
}

const nameOfAction = (plan: ReturnType<typeof useUpsertPlan>["data"]): string => {
  const changes = plan?.changes.length ?? 0
  if (plan?.action === "create") return "Create the application"
  return changes === 0 ? "Nothing to apply" : `Apply ${formatCount(changes, "change")}`
}

/** Head of a declared application: state, facts and actions. */
const DeclaredHead = ({ application, drift, isApplying, onApply, onLookAgain, onRemove, plan }: {
  readonly application: Shown
  readonly drift: ReturnType<typeof useDrift>
  readonly plan: ReturnType<typeof useUpsertPlan>
  readonly isApplying: boolean
  readonly onLookAgain: () => void
  readonly onRemove: (uuid: string) => void
  readonly onApply: () => void
}) => {
  const { appName, status } = application
  const uuid = drift.data?.app?.uuid
  return (
    <Head
      title={appName}
      under={underApplications}
      state={
        <>
          {status === null ? null : <Badge tone={toStatusTone(status)}>{status}</Badge>}
          <DriftBadge drift={drift} />
        </>
      }
      facts={factsOf(application, uuid)}
      actions={
        <>
          <Button icon="again" disabled={plan.isFetching || drift.isFetching} onClick={onLookAgain}>Look again</Button>
          {uuid === undefined ? null : <RemoveButton name={appName} onAsk={() => onRemove(uuid)} />}
          <Button
            icon="play"
            changes
            look="main-action"
            disabled={isApplying || plan.data === undefined || plan.data.action === "none"}
            onClick={onApply}
          >
            {isApplying ? "Applying …" : nameOfAction(plan.data)}
          </Button>
        </>
      }
    />
  )
}

const names = {
  application: "The platform runs it",
  port: "Its port takes connections",
  route: "The proxy leads its domain there",
  https: "HTTPS on the domain answers"
} as const

/** Hops of a verification. */
const VerifyPanel = ({ appName, projectPath }: { readonly projectPath: string; readonly appName: string }) => {
  const { data, dataUpdatedAt, error, isFetching, refetch } = useCall(
    ["verify", projectPath, appName],
    (berth) => berth.verify({ payload: { projectPath, appName } }),
    { staleTime: 5 * 60_000 }
  )
  return (
    <Panel
      title="The way to it"
      note={data === undefined
        ? undefined
        : data.failing === null
        ? <Badge tone="good">a request gets through</Badge>
        : <Badge tone="bad">stops at {data.failing}</Badge>}
      aside={
        <>
          {isFetching ? <span>following it …</span> : <Age at={dataUpdatedAt} before="followed " />}
          <Button icon="again" look="small" disabled={isFetching} onClick={refetch}>Verify</Button>
        </>
      }
    >
      <Failure error={error} />
      {data === undefined && error === null ? <Waiting what="the way" /> : null}
      <ol className="steps">
        {data?.hops.map(({ detail, hop, millis, ok, warning }) => (
          <li key={hop} className={`step ${ok ? "done" : "error"}`}>
            <span className="mark">
              <Icon name={ok ? "check" : "cross"} />
            </span>
            <span className="name">
              {names[hop]}
              <span className="unseen">: {ok ? "yes" : "no"}</span>
            </span>
            <span className="time numbers">{Math.round(millis)} ms</span>
            <span className="detail">{warning === undefined ? detail : `${detail}. ${warning}`}</span>
          </li>
        ))}
      </ol>
    </Panel>
  )
}

/** Webhook status of an application, with findings. */
const WebhookPanel = ({ appName }: { readonly appName: string }) => {
  const { data, dataUpdatedAt, error, refetch } = useWebhooks()
  const own = data?.results.find(({ app }) => app === appName)
  return (
    <Panel
      title="Webhook"
      note={own === undefined ? undefined : <WebhookBadge state={own} />}
      aside={
        <>
          <Age at={dataUpdatedAt} before="seen " />
          <Link className="link" href="/webhooks">All webhooks</Link>
        </>
      }
    >
      <Loading query={{ data, error, refetch }} what="the webhook" />
      {data !== undefined && own === undefined
        ? <Empty title="No webhook yet" icon="webhooks">The platform has no application of this name.</Empty>
        : null}
      {own === undefined ? null : <Findings state={own} />}
    </Panel>
  )
}

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
