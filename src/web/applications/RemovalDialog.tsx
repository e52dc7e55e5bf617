import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { useLocation } from "wouter"
import type { Removal, RemovalRequest, Removed } from "../../schema/applications/Removal.ts"
import { call } from "../service/berth.ts"
import { useCall } from "../service/queries.ts"
import { ActionDialog } from "../ui/ActionDialog.tsx"
import { Failure, Loading, Warnings } from "../ui/Notes.tsx"

/** Application to remove. */
export interface RemovalSubject {
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
export const RemovalDialog = ({ application: { declaredBy, name, uuid }, onClose }: {
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
