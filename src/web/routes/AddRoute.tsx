import { useMutation, useQueryClient } from "@tanstack/react-query"
import { type FormEvent, useState } from "react"
import { call } from "../service/berth.ts"
import { ServiceFailure } from "../service/ServiceFailure.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Field } from "../ui/Field.tsx"
import { Failure, Warnings } from "../ui/Notes.tsx"

const add = async (routeName: string, domain: string, port: number) => {
  const answer = await call((berth) => berth.addRoute({ payload: { routeName, domain, port } }))
  if ("error" in answer) throw new ServiceFailure(200, answer.error)
  return answer
}

/** Adds a route to the proxy file: what it will say is shown before. */
export const AddRoute = (
  { nextPort, onClose }: { readonly nextPort: number | undefined; readonly onClose: () => void }
) => {
  const [name, setName] = useState("")
  const [domain, setDomain] = useState("")
  const [port, setPort] = useState(nextPort === undefined ? "" : String(nextPort))
  const queries = useQueryClient()
  const { data, error, isPending, mutate } = useMutation({
    mutationFn: () => add(name, domain, Number(port)),
    onSuccess: () => queries.invalidateQueries()
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    mutate()
  }
  const isFilled = name !== "" && domain !== "" && port !== ""
  return (
    <Dialog label="Add a route" onClose={onClose}>
      <form onSubmit={submit}>
        <div className="dialog-body">
          <h2>Add a route</h2>
          <div className="fields">
            <Field label="Name">
              <input required value={name} placeholder="hello" onChange={({ target }) => setName(target.value)} />
            </Field>
            <Field label="Port">
              <input
                required
                type="number"
                min={1}
                max={65535}
                value={port}
                onChange={({ target }) => setPort(target.value)}
              />
            </Field>
            <Field label="Domain" wide>
              <input
                required
                value={domain}
                placeholder="hello.example.com"
                onChange={({ target }) => setDomain(target.value)}
              />
            </Field>
          </div>
          {isFilled && data === undefined
            ? (
              <ul className="what" aria-label="What will be added to the proxy file">
                <li>
                  <span className="sign good">+</span>
                  <span>
                    router <code>{name}</code>: Host(`{domain}`)
                  </span>
                </li>
                <li>
                  <span className="sign good">+</span>
                  <span>
                    service <code>{name}</code>: port <code>{port}</code> of the target address
                  </span>
                </li>
              </ul>
            )
            : null}
          {error === null ? null : <Failure error={error} />}
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
        </div>
        <div className="dialog-foot">
          <Button onClick={onClose}>{data === undefined ? "Leave it" : "Close"}</Button>
          {data === undefined
            ? (
              <Button type="submit" look="main-action" disabled={isPending || !isFilled}>
                Add it to the proxy file
              </Button>
            )
            : null}
        </div>
      </form>
    </Dialog>
  )
}
