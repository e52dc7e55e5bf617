import { useMutation, useQueryClient } from "@tanstack/react-query"
import { call } from "../service/berth.ts"
import { useCall } from "../service/queries.ts"
import { sessionEnded } from "../service/ServiceFailure.ts"

/** Who the service takes this browser for, and the way out of a session. */
export const Caller = () => {
  const { data } = useCall(["session"], (berth) => berth.showSession(), { staleTime: 60_000 })
  const queries = useQueryClient()
  const { mutate } = useMutation({
    mutationFn: () => call((berth) => berth.closeSession()),
    onSettled: () => {
      queries.clear()
      sessionEnded()
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
