import { useQuery } from "@tanstack/react-query"
import { useMemo } from "react"
import { call } from "../service/berth.ts"
import { minPollMillis } from "../service/queries.ts"
import type { MarkRow } from "./logRows.ts"

const kinds: ReadonlySet<string> = new Set(["deploy", "rollback", "stack"])

/** Location of a followed stack. */
export interface MarkedStack {
  readonly serverId: string
  readonly remotePath: string
}

/** Fetches the runs that changed stacks, as marks among the lines of their logs. */
export const useMarks = (stacks: ReadonlyArray<MarkedStack>): ReadonlyArray<MarkRow> => {
  const { data } = useQuery({
    queryKey: ["runs", "marks"],
    queryFn: ({ signal }) => call((berth) => berth.listRuns({ urlParams: { limit: 200 } }), signal),
    enabled: stacks.length > 0,
    refetchInterval: minPollMillis
  })
  const wanted = stacks.map(({ remotePath, serverId }) => `${serverId} ${remotePath}`).join("\n")
  return useMemo(() => {
    const among = new Set(wanted.split("\n"))
    return (data?.runs ?? []).flatMap((run): ReadonlyArray<MarkRow> =>
      kinds.has(run.kind) && run.startedAt !== null && among.has(`${run.subject.serverId} ${run.subject.remotePath}`)
        ? [{ kind: "mark", key: run.id, ms: Date.parse(run.startedAt), run }]
        : []
    )
  }, [data, wanted])
}
