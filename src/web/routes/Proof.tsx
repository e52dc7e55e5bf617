import { Link } from "wouter"
import type { RoutedApplication } from "../../schema/routes/RouteList.ts"
import { toBaseName } from "../runs/runWords.ts"
import { limitConcurrency, useCall, useOverview } from "../service/queries.ts"
import { Age } from "../ui/Age.tsx"
import { Badge } from "../ui/Badge.tsx"

/** Verification that a domain reaches its application, with its time. */
export const Proof = ({ application: { appName, projectPath } }: { readonly application: RoutedApplication }) => {
  const observed = useOverview().data?.applications.find((each) =>
    each.name === appName && each.projectPath === projectPath
  )
  // A route may exist before its application, which is not a failure.
  const isNotCreated = observed !== undefined && observed.uuid === null && observed.error === undefined
  const { data, dataUpdatedAt, error } = useCall(
    ["verify", projectPath, appName],
    (berth) => limitConcurrency(berth.verify({ payload: { projectPath, appName } })),
    { enabled: observed !== undefined && !isNotCreated, staleTime: 5 * 60_000 }
  )
  const hop = data?.hops.find(({ hop }) => hop === "route")
  return (
    <span className="proof">
      <Link
        className="link"
        href={`/applications/${encodeURIComponent(toBaseName(projectPath))}/${encodeURIComponent(appName)}`}
      >
        {appName}
      </Link>
      {isNotCreated
        ? <Badge>not created yet</Badge>
        : error !== null
        ? <span className="bad">{error.message}</span>
        : data === undefined
        ? <span className="quiet">…</span>
        : hop === undefined
        ? <Badge>not followed</Badge>
        : <Badge tone={hop.ok ? "good" : "bad"}>{hop.ok ? "leads to it" : "does not lead to it"}</Badge>}
      {hop === undefined || hop.ok ? null : <span className="quiet">{hop.detail}</span>}
      <Age at={dataUpdatedAt} before="followed " />
    </span>
  )
}
