import { useCall } from "../service/queries.ts"

/** Webhook status of each application, with findings. */
export const useWebhooks = () =>
  useCall(["webhooks"], (berth) => berth.webhookStatus({ urlParams: { deep: "true" } }), {
    staleTime: 60_000,
    every: 60_000
  })
