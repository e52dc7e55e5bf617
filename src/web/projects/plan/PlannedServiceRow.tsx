import type { PlannedService } from "../../../schema/deploy/ContainerPlan.ts"
import { describeRollout } from "../../../schema/deploy/describeRollout.ts"
import { PlannedRow } from "./PlannedRow.tsx"

/** Row of a service: its change, and how it gets its container. */
export const PlannedServiceRow = ({ service }: { readonly service: PlannedService }) => (
  <PlannedRow
    name={service.name}
    kind="service"
    change={service.change}
    aside={describeRollout(service) || undefined}
  />
)
