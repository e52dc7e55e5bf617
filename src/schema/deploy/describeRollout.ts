import type { PlannedService } from "./ContainerPlan.ts"

/** Describes the rollout of a service listed in `bridged`; empty for other services. */
export const describeRollout = ({ rollout, rolloutReason, routes = [] }: PlannedService): string => {
  const hosts = [...new Set(routes.map(({ host, routeName }) => host || routeName))].join(", ")
  if (rollout === "bridged") return `bridged: a second container takes the requests of ${hosts || "its port"} meanwhile`
  return rollout === "recreate" ? `not bridged: ${rolloutReason ?? "it is recreated in place"}` : ""
}
