import { Link } from "wouter"
import { formatCount } from "../format/format.ts"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { Head } from "../ui/Head.tsx"
import { DriftBadge } from "./DriftBadge.tsx"
import { toStatusTone } from "./toStatusTone.ts"
import type { useUpsertPlan } from "./upsert/useUpsertPlan.ts"
import type { DeclaredEntry } from "./useDeclared.ts"
import type { useDrift } from "./useDrift.ts"
import { RemoveButton } from "./useRemoval.tsx"

/** Screen that an application's screen is under. */
export const underApplications = { name: "Applications", href: "/applications" }

interface Shown {
  readonly appName: string
  readonly project: { readonly name: string }
  readonly declared: DeclaredEntry | undefined
  /** Status on the platform, if known. */
  readonly status: string | null
}

const factsOf = ({ declared, project }: Shown, uuid: string | undefined) => {
  const port = declared?.entry["port"]
  return [
    ["Project", <Link className="link" href={`/projects/${encodeURIComponent(project.name)}`}>{project.name}</Link>],
    ...typeof declared?.domain === "string" ? [["Domain", <code>{declared.domain}</code>] as const] : [],
    ...typeof port === "number" ? [["Port", <code>{port}</code>] as const] : [],
    ...uuid === undefined ? [] : [["Uuid", <code>{uuid}</code>] as const]
  ] as const
}

const nameOfAction = (plan: ReturnType<typeof useUpsertPlan>["data"]): string => {
  const changes = plan?.changes.length ?? 0
  if (plan?.action === "create") return "Create the application"
  return changes === 0 ? "Nothing to apply" : `Apply ${formatCount(changes, "change")}`
}

/** Head of a declared application: state, facts and actions. */
export const DeclaredHead = ({ application, drift, isApplying, onApply, onLookAgain, onRemove, plan }: {
  readonly application: Shown
  readonly drift: ReturnType<typeof useDrift>
  readonly plan: ReturnType<typeof useUpsertPlan>
  readonly isApplying: boolean
  readonly onLookAgain: () => void
  readonly onRemove: (uuid: string) => void
  readonly onApply: () => void
}) => {
  const { appName, status } = application
  const uuid = drift.data?.app?.uuid
  return (
    <Head
      title={appName}
      under={underApplications}
      state={
        <>
          {status === null ? null : <Badge tone={toStatusTone(status)}>{status}</Badge>}
          <DriftBadge drift={drift} />
        </>
      }
      facts={factsOf(application, uuid)}
      actions={
        <>
          <Button icon="again" disabled={plan.isFetching || drift.isFetching} onClick={onLookAgain}>Look again</Button>
          {uuid === undefined ? null : <RemoveButton name={appName} onAsk={() => onRemove(uuid)} />}
          <Button
            icon="play"
            changes
            look="main-action"
            disabled={isApplying || plan.data === undefined || plan.data.action === "none"}
            onClick={onApply}
          >
            {isApplying ? "Applying …" : nameOfAction(plan.data)}
          </Button>
        </>
      }
    />
  )
}
