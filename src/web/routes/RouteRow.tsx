import type { ListedRoute } from "../../schema/routes/RouteList.ts"
import { formatCount } from "../format/format.ts"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { Proof } from "./Proof.tsx"

/** Row of a route: rule, targets, author, and the verification of each application. */
export const RouteRow = ({ isFollowed, onRemove, route }: {
  readonly route: ListedRoute
  readonly isFollowed: boolean
  readonly onRemove: () => void
}) => {
  const { applications, domains, madeBy, missingMiddlewares, routeName, rule, targets } = route
  return (
    <li className="route">
      <span className="way">
        <span className="strong">{domains.length === 0 ? <code>{rule}</code> : domains.join(", ")}</span>
        <span>
          <span className="quiet" aria-hidden="true">→</span> <span className="unseen">leads to</span>
          {targets.length === 0
            ? <Badge tone="warn">no service in this file</Badge>
            : <code>{targets.join(", ")}</code>}
        </span>
      </span>
      <span className="about">
        <span className="quiet">
          <code>{routeName}</code>, {madeBy === "berth" ? "as Berth writes it" : "written by somebody else"}
        </span>
        {missingMiddlewares.length === 0 ? null : (
          <Badge tone="warn">
            lacks {formatCount(missingMiddlewares.length, "middleware")}: {missingMiddlewares.join(", ")}
          </Badge>
        )}
      </span>
      <span className="proofs">
        {applications.length === 0
          ? <span className="quiet">declared by no project here</span>
          : isFollowed
          ? applications.map((application) => (
            <Proof key={`${application.projectPath} ${application.appName}`} application={application} />
          ))
          : <span className="quiet">{applications.map(({ appName }) => appName).join(", ")}</span>}
      </span>
      <Button look="small" changes onClick={onRemove}>
        Remove<span className="unseen">the route {routeName}</span>
      </Button>
    </li>
  )
}
