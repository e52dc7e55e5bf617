import { Link } from "wouter"
import type { RoutedApplication } from "../../schema/RouteList.ts"
import { lastName } from "../runs/runWords.ts"
import { aFewAtOnce, useCall } from "../service/queries.ts"
import { Age } from "../ui/Age.tsx"
import { Badge } from "../ui/Badge.tsx"

/** The proof that a domain is led to the application that declares it, with when it was followed. */
export const Proof = ({ application: { appName, projectPath } }: { readonly application: RoutedApplication }) => {
  const { data, dataUpdatedAt, error } = useCall(
    ["verify", projectPath, appName],
    (berth) => aFewAtOnce(berth.verify({ payload: { projectPath, appName } })),
    { staleTime: 5 * 60_000 }
  )
  const hop = data?.hops.find(({ hop }) => hop === "route")
  return (
    <span className="proof">
      <Link
        className="link"
        href={`/applications/${encodeURIComponent(lastName(projectPath))}/${encodeURIComponent(appName)}`}
      >
        {appName}
      </Link>
      {error !== null
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
