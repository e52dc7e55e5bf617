import { useMutation, useQueryClient } from "@tanstack/react-query"
import { type FormEvent, useState } from "react"
import { call } from "../service/berth.ts"
import { ServiceFailure } from "../service/ServiceFailure.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Field } from "../ui/Field.tsx"
import { Failure, Warnings } from "../ui/Notes.tsx"

const remove = async (routeName: string) => {
  const answer = await call((berth) => berth.removeRoute({ payload: { routeName } }))
  if ("error" in answer) throw new ServiceFailure(200, answer.error)
  return answer
}

/** Removes a route from the proxy file. */
export const RemoveRoute = ({ onClose }: { readonly onClose: () => void }) => {
  const [name, setName] = useState("")
  const queries = useQueryClient()
  const { data, error, isPending, mutate } = useMutation({
    mutationFn: () => remove(name),
    onSuccess: () => queries.invalidateQueries()
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    mutate()
  }
  return (
    <Dialog label="Remove a route" onClose={onClose}>
      <form onSubmit={submit}>
        <div className="dialog-body">
          <h2>Remove a route</h2>
          <Field label="Name" help="As it stands in the proxy file">
            <input required value={name} placeholder="hello" onChange={({ target }) => setName(target.value)} />
          </Field>
          {name === "" || data !== undefined ?
            null :
            (
              <ul className="what" aria-label="What will be removed from the proxy file">
                <li>
                  <span className="sign bad">−</span>
                  <span>
                    the routers and the service <code>{name}</code>: its domain leads nowhere then
                  </span>
                </li>
              </ul>
            )}
          {error === null ? null : <Failure error={error} />}
          {data === undefined ? null : data.removed
            ? (
              <>
                <p role="status">The proxy file no longer has the route {data.routeName}.</p>
                <Warnings texts={data.warning === undefined ? [] : [data.warning]} />
              </>
            )
            : <p role="status">The proxy file has no route of this name: nothing was changed.</p>}
        </div>
        <div className="dialog-foot">
          <Button onClick={onClose}>{data === undefined ? "Leave it" : "Close"}</Button>
          {data === undefined
            ? (
              <Button type="submit" look="danger" disabled={isPending || name === ""}>
                Remove it from the proxy file
              </Button>
            )
            : null}
        </div>
      </form>
    </Dialog>
  )
}
