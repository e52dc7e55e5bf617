import { Link } from "wouter"
import type { ObservedApplication, Overview } from "../../schema/Overview.ts"
import { buildApplicationHref } from "../applications/buildApplicationHref.ts"
import { toStatusTone } from "../applications/toStatusTone.ts"
import { formatCount } from "../format/format.ts"
import { Age } from "../ui/Age.tsx"
import { Badge } from "../ui/Badge.tsx"
import { Panel } from "../ui/Panel.tsx"

const Drifted = (
  { application: { drift, error, projectPath, uuid } }: { readonly application: ObservedApplication }
) => {
  if (error !== undefined) return <span className="bad">{error}</span>
  if (projectPath === null) return <span className="quiet">declared by no project here</span>
  if (uuid === null) return <span className="quiet">declared, not created yet</span>
  if (drift === null) return <span className="quiet">not compared</span>
  return drift === 0
    ? <span className="quiet">as declared</span>
    : (
      <span className="warn">
        {formatCount(drift, "field")} {drift === 1 ? "differs" : "differ"} from platform.json
      </span>
    )
}

const mostShown = 50

/** Table of the applications on the platform and of declared ones. */
export const AllApplications = ({ overview }: { readonly overview: Overview | undefined }) =>
  overview === undefined || overview.applications.length === 0 ? null : (
    <Panel
      title="Applications"
      note={formatCount(overview.applications.length, "application")}
      aside={<Link className="link" href="/applications">All of them</Link>}
    >
      <ul className="rows">
        {overview.applications.slice(0, mostShown).map((application) => (
          <li key={`${application.uuid} ${application.projectPath} ${application.name}`}>
            <Link className="strong" href={buildApplicationHref(application, overview.projects)}>
              {application.name}
            </Link>
            {application.status === null
              ? null
              : <Badge tone={toStatusTone(application.status)}>{application.status}</Badge>}
            <span className="grow">
              <Drifted application={application} />
            </span>
            <Age at={application.observedAt} before="seen " />
          </li>
        ))}
      </ul>
    </Panel>
  )
