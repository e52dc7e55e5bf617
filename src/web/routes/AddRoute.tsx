import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../service/berth.ts"
import { ServiceFailure } from "../service/ServiceFailure.ts"
import { ActionDialog } from "../ui/ActionDialog.tsx"
import { Field } from "../ui/Field.tsx"
import { Failure, Warnings } from "../ui/Notes.tsx"
import { FilePlan } from "./FilePlan.tsx"

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
