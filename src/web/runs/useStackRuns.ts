import { useQuery } from "@tanstack/react-query"
import { call } from "../service/berth.ts"
import { minPollMillis } from "../service/queries.ts"

const kinds: ReadonlySet<string> = new Set(["deploy", "rollback", "stack"])

/** Recent runs of the stack at a remote path, newest first. */
export const useStackRuns = (serverId: string, remotePath: string) =>
  useQuery({
    queryKey: ["runs", "of stack", serverId, remotePath],
    queryFn: async ({ signal }) => {
      const { runs } = await call((berth) => berth.listRuns({ urlParams: { serverId, limit: 100 } }), signal)
      return runs.filter(({ kind, subject }) => kinds.has(kind) && subject.remotePath === remotePath)
    },
    refetchInterval: minPollMillis
  })
