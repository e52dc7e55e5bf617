import { useMutation, useQueryClient } from "@tanstack/react-query"
import { call } from "../service/berth.ts"
import { useCall } from "../service/queries.ts"
import { ServiceFailure } from "../service/ServiceFailure.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Failure, Waiting, Warnings } from "../ui/Notes.tsx"
import { FilePlan } from "./FilePlan.tsx"

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
    <Dialog label={`Remove the route ${routeName}`} className="wide" busy={isPending} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          mutate()
        }}
      >
        <div className="dialog-body">
          <h2>Remove the route {routeName}?</h2>
          {data === undefined
            ? (
              <p className="quiet">
                {domains.length === 0 ? "What it asks for" : domains.join(", ")} leads nowhere through this file then.
              </p>
            )
            : null}
          <Failure error={plan.error} again={plan.refetch} />
          {data !== undefined ? null : plan.data === undefined
            ? (plan.error === null ? <Waiting what="the plan" /> : null)
            : <FilePlan plan={plan.data} />}
          <Failure error={error} />
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
          <Button disabled={isPending} onClick={onClose}>{data === undefined ? "Leave it" : "Close"}</Button>
          {data === undefined
            ? (
              <Button type="submit" changes look="danger" disabled={isPending || plan.data?.changes !== true}>
                {isPending ? "Removing …" : "Remove it from the proxy file"}
              </Button>
            )
            : null}
        </div>
      </form>
    </Dialog>
  )
}
