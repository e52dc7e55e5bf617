import { Link } from "wouter"
import { filterChangedParts } from "../../schema/deploy/plannedChanges.ts"
import type { LocalProject } from "../../schema/projects/Project.ts"
import type { Run } from "../../schema/runs/Run.ts"
import { useAnchor } from "../browser/useAnchor.ts"
import { formatCount } from "../format/format.ts"
import { Logs } from "../logs/Logs.tsx"
import { useOverview } from "../service/queries.ts"
import { Button } from "../ui/Button.tsx"
import { Applications, PlanPanel, TimeLine, VariablesPart } from "./lazyParts.ts"
import { buildProjectHref, type ProjectTab } from "./projectHref.ts"
import { Services } from "./Services.tsx"
import { type ObservedState, useComparison, useRefetchComparison } from "./state/projectState.ts"
import type { usePlan } from "./state/usePlan.ts"

interface PartProps {
  readonly project: LocalProject
  readonly serverId: string
  readonly standing: ObservedState
  readonly plan: ReturnType<typeof usePlan>
  readonly onStarted: (run: Run) => void
}

const mostNamed = 6

const Pending = ({ plan: { data }, project: { name } }: PartProps) => {
  if (data === undefined) return null
  const { files, images } = filterChangedParts(data)
  const names = [...files, ...images].map((part) => part.name)
  if (names.length === 0) return null
  return (
    <p className="note warn pending">
      <span className="grow">
        <span className="strong">{formatCount(names.length, "change")}</span> to deploy:{" "}
        <code>{names.slice(0, mostNamed).join(", ")}</code>
        {names.length > mostNamed ? ` and ${names.length - mostNamed} more` : ""}
      </span>
      <Link className="button small" href={buildProjectHref(name, "changes")}>See the changes</Link>
    </p>
  )
}

const Now = (props: PartProps) => {
  const { project: { name, path, remotePath }, serverId, standing } = props
  const observed = useOverview().data?.projects.find((each) => each.path === path)
  const hasLog = standing.containerNames.length > 0
  useAnchor("log", hasLog)
  return (
    <>
      <Pending {...props} />
      <Services observed={observed} serverId={serverId} />
      {hasLog
        ? (
          <div id="log" className="anchor">
            <Logs key={remotePath} name={name} serverId={serverId} target={{ remotePath }} />
          </div>
        )
        : null}
    </>
  )
}

const Changes = ({ plan, project }: PartProps) => {
  const comparison = useComparison(project)
  const compareAgain = useRefetchComparison(project)
  return (
    <PlanPanel
      plan={plan}
      comparison={comparison}
      again={<Button icon="again" look="small" disabled={plan.isFetching} onClick={compareAgain}>Compare again</Button>}
    />
  )
}

/** Content of a project's tab. */
export const ProjectPart = ({ tab, ...props }: PartProps & { readonly tab: ProjectTab }) => {
  switch (tab) {
    case "":
      return <Now {...props} />
    case "changes":
      return <Changes {...props} />
    case "runs":
      return <TimeLine project={props.project} serverId={props.serverId} onStarted={props.onStarted} />
    case "variables":
      return <VariablesPart project={props.project} />
    case "application":
      return <Applications project={props.project} />
  }
}
