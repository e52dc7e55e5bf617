import { useMutation, useQueryClient } from "@tanstack/react-query"
import { call } from "../service/berth.ts"
import { useSession } from "../service/queries.ts"
import { notifySessionEnded } from "../service/ServiceFailure.ts"

/** Authenticated caller, with the log-out button. */
export const Caller = () => {
  const { data } = useSession()
  const queries = useQueryClient()
  const { mutate } = useMutation({
    mutationFn: () => call((berth) => berth.closeSession()),
    onSettled: () => {
      queries.clear()
      notifySessionEnded()
    }
  })
  if (data === undefined) return null
  return (
    <span className="caller" title={`${data.name}, ${data.role}`}>
      {data.role === "viewer" ? `${data.name}, may only look` : data.name}
      {data.expiresAt === null
        ? null
        : <button type="button" className="text-button" onClick={() => mutate()}>Log out</button>}
    </span>
  )
}
