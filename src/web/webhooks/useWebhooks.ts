import { useCall } from "../service/queries.ts"

/** For each application whether pushes deploy it, and what keeps them from it. */
export const useWebhooks = () =>
  useCall(["webhooks"], (berth) => berth.webhookStatus({ urlParams: { deep: "true" } }), {
    staleTime: 60_000,
    every: 60_000
  })
