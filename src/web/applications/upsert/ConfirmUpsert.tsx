import type { PlatformPlan } from "../../../schema/applications/PlatformPlan.ts"
import { formatCount } from "../../format/format.ts"
import { Confirm } from "../../ui/Confirm.tsx"
import { Change } from "./UpsertPlan.tsx"

const maxNamedChanges = 12

/** Summarizes the plan of an upsert and asks to confirm it. */
export const ConfirmUpsert = ({ onClose, onConfirm, plan: { action, appName, changes, planHash } }: {
  readonly plan: PlatformPlan
  readonly onConfirm: (planHash: string) => void
  readonly onClose: () => void
}) => (
  <Confirm
    title={`${action === "create" ? "Create" : "Update"} ${appName} on the platform?`}
    action={action === "create" ? "Create it" : `Apply ${formatCount(changes.length, "change")}`}
    onClose={onClose}
    onConfirm={() => onConfirm(planHash)}
  >
    <div>
      {changes.slice(0, maxNamedChanges).map((change) => (
        <Change key={`${change.target} ${change.field}`} change={change} />
      ))}
    </div>
    <p className="quiet">If anything has moved since this plan was made, nothing is changed.</p>
  </Confirm>
)
