import { useMutation, useQueryClient } from "@tanstack/react-query"
import { type ReactNode, useState } from "react"
import { Link, useLocation } from "wouter"
import type { Removal, RemovalRequest, Removed } from "../../schema/applications.ts"
import { call, ServiceFailure, useCall, useProjects, useUnderWay } from "../service.ts"
import {
  Age,
  Badge,
  Button,
  Empty,
  Failure,
  Field,
  Head,
  Loading,
  Panel,
  Waiting,
  Warnings
} from "../ui/components.tsx"
import { ActionDialog } from "../ui/dialogs.tsx"
import { Variables } from "./Changelog.tsx"
import { toStatusTone } from "./Drift.tsx"

/** Application to remove. */
interface RemovalSubject {
  readonly uuid: string
  readonly name: string
  /** Project that declares it. */
  readonly declaredBy?: string
}

/** Parts of the application, each marked as removed or kept. */
const Parts = ({ keepRoute, plan: { hooks, live, name, route } }: {
  readonly plan: Removal
  readonly keepRoute: boolean
}) => (
  <ul className="what">
    <li>
      <span className={live ? "bad" : "quiet"}>{live ? "−" : "="}</span>
      <span>
        application <strong>{name}</strong>
        {live ? ", with everything that the platform stores of it" : ": the platform no longer has it"}
      </span>
    </li>
    {route === null ? null : (
      <li>
        <span className={keepRoute ? "quiet" : "bad"}>{keepRoute ? "=" : "−"}</span>
        <span>
          route <strong>{route.routeName}</strong>: {route.way}
          {keepRoute ? " (stays)" : ""}
        </span>
      </li>
    )}
    {hooks.map(({ id, repository }) => (
      <li key={id}>
        <span className="bad">−</span>
        <span>
          webhook <strong>{id}</strong> of {repository}
        </span>
      </li>
    ))}
  </ul>
)

const outcome = ({ hooks, name, route }: Removed): string => {
  const parts = [
    ...(route === null ? [] : [`its route ${route.routeName}`]),
    ...hooks.map(({ id, repository }) => `its webhook ${id} of ${repository}`)
  ]
  return `${name} is removed from the platform${parts.length === 0 ? "" : `, with ${parts.join(" and ")}`}.`
}

const staysWords = (stays: ReadonlyArray<string>) => stays.map((words) => `Stays: ${words}`)

/** Plan of a removal, and the choice to keep the route. */
const RemovalPlan = ({ keepRoute, onKeepRoute, plan }: {
  readonly plan: Removal
  readonly keepRoute: boolean
  readonly onKeepRoute: (keep: boolean) => void
}) => (
  <>
    <Parts plan={plan} keepRoute={keepRoute} />
    <Warnings texts={staysWords(plan.stays)} />
    {plan.route === null ? null : (
      <label className="check">
        <input type="checkbox" checked={keepRoute} onChange={({ target }) => onKeepRoute(target.checked)} />{" "}
        Keep its route in the proxy file
      </label>
    )}
  </>
)

/** Removes an application with its route and webhooks as planned, and shows the outcome. */
const RemovalDialog = ({ application: { declaredBy, name, uuid }, onClose }: {
  readonly application: RemovalSubject
  readonly onClose: () => void
}) => {
  const [keepRoute, setKeepRoute] = useState(false)
  const queries = useQueryClient()
  const [, go] = useLocation()
  const { data, error, isPending, mutate, reset } = useMutation({
    mutationFn: (payload: RemovalRequest) => call((berth) => berth.removeApplication({ path: { uuid }, payload }))
  })
  const plan = useCall(["removal plan", uuid], (berth) => berth.planRemoval({ path: { uuid } }), {
    enabled: data === undefined,
    staleTime: 0
  })
  const planAgain = () => {
    reset()
    return plan.refetch()
  }
  const close = () => {
    onClose()
    if (data === undefined) return
    if (declaredBy === undefined) go("/applications")
    void queries.invalidateQueries()
  }
  const planned = plan.isFetching ? undefined : plan.data
  return (
    <ActionDialog
      title={`Remove ${name}?`}
      action={isPending ? "Removing …" : "Remove it from the platform"}
      danger
      busy={isPending}
      isDone={data !== undefined}
      disabled={planned === undefined}
      onAct={() => planned !== undefined && mutate({ keepRoute, planHash: planned.planHash })}
      onClose={close}
    >
      {data === undefined
        ? (
          <>
            <Loading query={{ ...plan, data: planned, error: plan.isFetching ? null : plan.error }} what="the plan" />
            {planned === undefined
              ? null
              : <RemovalPlan plan={planned} keepRoute={keepRoute} onKeepRoute={setKeepRoute} />}
            <p className="quiet">
              {declaredBy === undefined
                ? "This cannot be undone."
                : `This cannot be undone. ${declaredBy} still declares it in platform.json: an upsert creates it anew.`}
              {" "}
              If anything has moved since this plan was made, nothing is changed.
            </p>
            <Failure error={error} again={planAgain} />
          </>
        )
        : (
          <>
            <p role="status">{outcome(data)}</p>
            <Warnings texts={staysWords(data.stays)} />
          </>
        )}
    </ActionDialog>
  )
}

/** Button that asks to remove an application; disabled while an upsert of it is under way. */
export const RemoveButton = ({ name, onAsk }: { readonly name: string; readonly onAsk: () => void }) => {
  const isUpserting = useUnderWay().some(({ kind, subject }) => kind === "upsert" && subject.appName === name)
  return <Button icon="bin" changes disabled={isUpserting} onClick={onAsk}>Remove</Button>
}

/** State of the removal dialog of a screen. The dialog outlives the application, to show the outcome. */
export const useRemoval = (): {
  readonly ask: (application: RemovalSubject) => void
  readonly dialog: ReactNode
} => {
  const [application, setApplication] = useState<RemovalSubject>()
  return {
    ask: setApplication,
    dialog: application === undefined
      ? null
      : <RemovalDialog application={application} onClose={() => setApplication(undefined)} />
  }
}

/** Declares a live application in a project's platform.json. */
const Adopt = ({ name, uuid }: { readonly uuid: string; readonly name: string }) => {
  const projects = useProjects().data ?? []
  const queries = useQueryClient()
  const [chosen, setChosen] = useState("")
  const projectPath = chosen === "" ? projects.find((project) => project.name === name)?.path ?? "" : chosen
  const project = projects.find(({ path }) => path === projectPath)
  const { data, error, isPending, mutate } = useMutation({
    mutationFn: (replace: boolean) => call((berth) => berth.adopt({ payload: { uuid, projectPath, replace } })),
    onSuccess: () => queries.invalidateQueries()
  })
  const exists = error instanceof ServiceFailure && error.status === 409
  return (
    <Panel title="Adopt it" note="write it into a project's platform.json, so that nothing drifts">
      {data === undefined
        ? (
          <form
            className="body inline-form"
            onSubmit={(event) => {
              event.preventDefault()
              mutate(false)
            }}
          >
            <Field label="Project">
              <select value={projectPath} required onChange={(event) => setChosen(event.target.value)}>
                <option value="">Choose a project</option>
                {projects.map(({ name: each, path }) => <option key={path} value={path}>{each}</option>)}
              </select>
            </Field>
            <Button type="submit" changes look="main-action" disabled={isPending || projectPath === ""}>
              {project === undefined ? "Adopt" : `Write it into ${project.name}/platform.json`}
            </Button>
          </form>
        )
        : (
          <>
            <Warnings texts={[...data.warnings, ...data.unknown.map(({ label, reason }) => `${label}: ${reason}`)]} />
            <p className="body">
              Written.{" "}
              <Link
                className="link"
                href={`/applications/${encodeURIComponent(project?.name ?? "")}/${encodeURIComponent(name)}`}
              >
                {name} is declared now
              </Link>, and nothing drifts.
            </p>
            <pre className="output" tabIndex={0}>{JSON.stringify(data.entry, null, 2)}</pre>
          </>
        )}
      <Failure error={error} />
      {exists && data === undefined
        ? (
          <div className="body">
            <Button look="danger" changes onClick={() => mutate(true)}>Replace the entry that is there</Button>
          </div>
        )
        : null}
    </Panel>
  )
}

const told = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)

const Screen = ({ onRemove, uuid }: { readonly uuid: string; readonly onRemove: (name: string) => void }) => {
  const { data, dataUpdatedAt, error, refetch } = useCall(["applications"], (berth) => berth.listApplications(), {
    every: 60_000
  })
  const application = data?.find((each) => each.uuid === uuid)
  const under = { name: "Applications", href: "/applications" }
  if (application === undefined) {
    return (
      <div className="page">
        <Head title="Application" under={under} />
        <Panel title="The platform">
          {error !== null
            ? <Failure error={error} again={refetch} />
            : data === undefined
            ? <Waiting what="the application" />
            : <Empty title="The platform has no such application" icon="applications" />}
        </Panel>
      </div>
    )
  }
  const name = told(application.name) ?? uuid
  const status = told(application.status)
  const facts = [
    ["Domain", told(application.fqdn)],
    ["Repository", told(application.git_repository)],
    ["Branch", told(application.git_branch)],
    ["Port", told(application._host_port)],
    ["Uuid", uuid]
  ] as const
  return (
    <div className="page">
      <Head
        title={name}
        under={under}
        state={
          <>
            {status === undefined ? null : <Badge tone={toStatusTone(status)}>{status}</Badge>}
            <Badge>declared by no project here</Badge>
            <Age at={dataUpdatedAt} before="seen " />
          </>
        }
        facts={facts.flatMap(([label, value]) => (value === undefined ? [] : [[label, <code>{value}</code>] as const]))}
        actions={<RemoveButton name={name} onAsk={() => onRemove(name)} />}
      />
      <Adopt uuid={uuid} name={name} />
      <Variables uuid={uuid} />
    </div>
  )
}

/** Screen of an undeclared application. */
export const LiveApplication = ({ uuid }: { readonly uuid: string }) => {
  const { ask, dialog } = useRemoval()
  return (
    <>
      <Screen uuid={uuid} onRemove={(name) => ask({ uuid, name })} />
      {dialog}
    </>
  )
}
