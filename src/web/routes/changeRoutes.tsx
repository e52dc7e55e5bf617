import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import type { RoutePlan } from "../../schema/routes.ts"
import { Diff } from "../projects/plan/rows.tsx"
import { call, ServiceFailure, useCall } from "../service.ts"
import { Age, Failure, Field, Loading, Warnings } from "../ui/components.tsx"
import { ActionDialog } from "../ui/dialogs.tsx"

const nothing = {
  route_exists: "The proxy file has this route already: nothing would be changed.",
  route_not_found: "The proxy file has no route of this name: nothing would be changed."
} as const

/** Diff of the planned proxy file. */
const FilePlan = ({ plan }: { readonly plan: RoutePlan }) => (
  <section className="file-plan" aria-label="What would become of the proxy file">
    <p className="where">
      <code className="grow">{plan.file}</code>
      <span className="quiet">on {plan.serverName}</span>
      {plan.changes
        ? (
          <span className="numbers">
            <span className="good">+{plan.added}</span> <span className="bad">−{plan.removed}</span>
            <span className="unseen">lines</span>
          </span>
        )
        : null}
      <Age at={plan.observedAt} before="read " />
    </p>
    {plan.reason === undefined ? null : <p className="quiet">{nothing[plan.reason]}</p>}
    <Warnings texts={plan.warning === undefined ? [] : [plan.warning]} />
    {plan.changes ? <Diff diff={plan.diff} name={plan.file} /> : null}
  </section>
)

interface Wanted {
  readonly routeName: string
  readonly domain: string
  readonly port: number
}

const planned = (wanted: Wanted) => call((berth) => berth.planRoute({ payload: { action: "add", ...wanted } }))
const add = async (wanted: Wanted) => {
  const answer = await call((berth) => berth.addRoute({ payload: wanted }))
  if ("error" in answer) throw new ServiceFailure(200, answer.error)
  return answer
}

interface Texts {
  readonly name: string
  readonly domain: string
  readonly port: string
}

const RouteFields = ({ isDisabled, onChange, texts }: {
  readonly texts: Texts
  readonly isDisabled: boolean
  readonly onChange: (change: Partial<Texts>) => void
}) => {
  const inputOf = (name: keyof Texts) => ({
    required: true,
    value: texts[name],
    disabled: isDisabled,
    onChange: ({ target }: { readonly target: { readonly value: string } }) => onChange({ [name]: target.value })
  })
  return (
    <div className="fields">
      <Field label="Name" help="The key of its routers and its service in the file">
        <input {...inputOf("name")} placeholder="hello" />
      </Field>
      <Field label="Port" help="Of the address in proxy.targetIp">
        <input {...inputOf("port")} type="number" min={1} max={65535} />
      </Field>
      <Field label="Domain" wide>
        <input {...inputOf("domain")} placeholder="hello.example.com" />
      </Field>
    </div>
  )
}

/** Adds a route after showing the change of the proxy file. */
export const AddRoute = (
  { nextPort, onClose }: { readonly nextPort: number | undefined; readonly onClose: () => void }
) => {
  const [texts, setTexts] = useState({ name: "", domain: "", port: nextPort === undefined ? "" : String(nextPort) })
  const { domain, name, port } = texts
  const wanted = { routeName: name, domain, port: Number(port) }
  const queries = useQueryClient()
  const plan = useMutation({ mutationFn: planned })
  const addition = useMutation({ mutationFn: add, onSuccess: () => queries.invalidateQueries() })
  const { data, error } = addition
  const isPlanned = plan.data?.changes === true && data === undefined
  const isFilled = name !== "" && domain !== "" && port !== ""
  // Discards a plan that was made for other field values.
  const changed = (change: Partial<Texts>) => {
    setTexts({ ...texts, ...change })
    plan.reset()
    addition.reset()
  }
  const action = () => {
    if (isPlanned) return addition.isPending ? "Adding …" : "Add it to the proxy file"
    return plan.isPending ? "Reading the file …" : "Show what would change"
  }
  return (
    <ActionDialog
      title="Add a route"
      action={action()}
      changes={isPlanned}
      wide
      busy={addition.isPending}
      isDone={data !== undefined}
      disabled={!isPlanned && (plan.isPending || !isFilled)}
      onAct={() => isPlanned ? addition.mutate(wanted) : plan.mutate(wanted)}
      onClose={onClose}
    >
      <RouteFields texts={texts} isDisabled={data !== undefined} onChange={changed} />
      <Failure error={plan.error} />
      {plan.data === undefined || data !== undefined ? null : <FilePlan plan={plan.data} />}
      <Failure error={error} />
      {data === undefined ? null : data.added
        ? (
          <>
            <p role="status">
              The proxy file leads <code>{domain}</code> to port {port} now.
            </p>
            <Warnings texts={data.warning === undefined ? [] : [data.warning]} />
          </>
        )
        : <p role="status">The proxy file had this route already: nothing was changed.</p>}
    </ActionDialog>
  )
}

const remove = async (routeName: string) => {
  const answer = await call((berth) => berth.removeRoute({ payload: { routeName } }))
  if ("error" in answer) throw new ServiceFailure(200, answer.error)
  return answer
}

/** Removes a route after showing the change of the proxy file. */
export const RemoveRoute = ({ domains, onClose, routeName }: {
  readonly routeName: string
  readonly domains: ReadonlyArray<string>
  readonly onClose: () => void
}) => {
  const queries = useQueryClient()
  const { data, error, isPending, mutate } = useMutation({
    mutationFn: () => remove(routeName),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["routes"] })
  })
  const plan = useCall(
    ["route plan", "remove", routeName],
    (berth) => berth.planRoute({ payload: { action: "remove", routeName } }),
    { enabled: data === undefined, staleTime: 0 }
  )
  return (
    <ActionDialog
      title={`Remove the route ${routeName}?`}
      action={isPending ? "Removing …" : "Remove it from the proxy file"}
      danger
      wide
      busy={isPending}
      isDone={data !== undefined}
      disabled={plan.data?.changes !== true}
      onAct={mutate}
      onClose={onClose}
    >
      {data === undefined
        ? (
          <>
            <p className="quiet">
              {domains.length === 0 ? "What it asks for" : domains.join(", ")} leads nowhere through this file then.
            </p>
            <Loading query={plan} what="the plan" />
            {plan.data === undefined ? null : <FilePlan plan={plan.data} />}
            <Failure error={error} />
          </>
        )
        : data.removed
        ? (
          <>
            <p role="status">The proxy file no longer has the route {data.routeName}.</p>
            <Warnings texts={data.warning === undefined ? [] : [data.warning]} />
          </>
        )
        : <p role="status">The proxy file has no route of this name: nothing was changed.</p>}
    </ActionDialog>
  )
}
