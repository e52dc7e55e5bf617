import { useMutation, useQueryClient } from "@tanstack/react-query"
import { call } from "../service/berth.ts"
import { useCall } from "../service/queries.ts"
import { ServiceFailure } from "../service/ServiceFailure.ts"
import { ActionDialog } from "../ui/ActionDialog.tsx"
import { Failure, Loading, Warnings } from "../ui/Notes.tsx"
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
