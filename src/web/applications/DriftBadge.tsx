import { differencesIn, type Drift } from "../../schema/applications/Drift.ts"
import { formatCount } from "../format/format.ts"
import { Badge } from "../ui/Badge.tsx"

/** Badge with the drift of an application. */
export const DriftBadge = ({ drift: { data, error } }: {
  readonly drift: { readonly data: Drift | undefined; readonly error: Error | null }
}) => {
  if (data === undefined) {
    return error === null ? <span className="quiet">…</span> : <Badge tone="bad">cannot be compared</Badge>
  }
  if (!data.exists) return <Badge tone="warn">not on the platform</Badge>
  const count = differencesIn(data)
  if (count > 0) return <Badge tone="warn">{formatCount(count, "difference")}</Badge>
  const unknown = data.unknown?.length ?? 0
  return unknown > 0
    ? <Badge tone="good">as declared, {unknown} unknown</Badge>
    : <Badge tone="good">as declared</Badge>
}
