import type { RoutePlan } from "../../schema/routes/RoutePlan.ts"
import { Diff } from "../projects/plan/Diff.tsx"
import { Age } from "../ui/Age.tsx"
import { Warnings } from "../ui/Notes.tsx"

const nothing = {
  route_exists: "The proxy file has this route already: nothing would be changed.",
  route_not_found: "The proxy file has no route of this name: nothing would be changed."
} as const

/** Diff of the planned proxy file. */
export const FilePlan = ({ plan }: { readonly plan: RoutePlan }) => (
  <section className="file-plan" aria-label="What would become of the proxy file">
    <p className="where">
      <code className="grow">{plan.file}</code>
      <span className="quiet">on {plan.serverName}</span>
      {plan.changes
        ? (
          <span className="numbers">
            <span className="good">+{plan.added}</span> <span className="bad">−{plan.removed}</span>
            <span className="unseen">lines</span>
          </span>
        )
        : null}
      <Age at={plan.observedAt} before="read " />
    </p>
    {plan.reason === undefined ? null : <p className="quiet">{nothing[plan.reason]}</p>}
    <Warnings texts={plan.warning === undefined ? [] : [plan.warning]} />
    {plan.changes ? <Diff diff={plan.diff} name={plan.file} /> : null}
  </section>
)
