import { useState } from "react"
import { Link } from "wouter"
import { listRemedies, type Remedy, remedyWords } from "../../schema/runs/listRemedies.ts"
import { isEnded, type Run } from "../../schema/runs/Run.ts"
import { useProjects } from "../service/queries.ts"
import { Button } from "../ui/Button.tsx"
import { DeployDialog } from "./DeployDialog.tsx"
import { buildProjectHref } from "./projectHref.ts"
import { isReady } from "./state/usePlan.ts"

const hrefOf = (remedy: Remedy, { subject: { serverId } }: Run, name: string | undefined): string | undefined => {
  if (remedy === "server") return serverId === undefined ? undefined : `/servers/${encodeURIComponent(serverId)}`
  if (name === undefined) return undefined
  if (remedy === "log") return `${buildProjectHref(name)}#log`
  return buildProjectHref(name, remedy === "releases" ? "runs" : "changes")
}

/** Next actions after a run that did not succeed. */
export const Remedies = ({ onStarted, run }: { readonly run: Run; readonly onStarted: (run: Run) => void }) => {
  const projects = useProjects().data ?? []
  const [asking, setAsking] = useState(false)
  const { projectPath, remotePath, serverId } = run.subject
  const project = projects.find((each) =>
    projectPath === undefined ? each.serverId === serverId && each.remotePath === remotePath : each.path === projectPath
  )
  const remedies = isEnded(run.state) ? listRemedies(run) : []
  const shown = remedies.flatMap((remedy) => {
    if (remedy === "again") {
      return project === undefined || !isReady(project) ? [] : [
        <Button key={remedy} icon="again" look="small" changes onClick={() => setAsking(true)}>
          {remedyWords[remedy]}
        </Button>
      ]
    }
    const href = hrefOf(remedy, run, project?.name)
    return href === undefined
      ? []
      : [<Link key={remedy} className="button small" href={href}>{remedyWords[remedy]}</Link>]
  })
  return shown.length === 0 ? null : (
    <div className="remedies" role="group" aria-label="What to do next">
      {shown}
      {asking && project !== undefined
        ? <DeployDialog project={project} onClose={() => setAsking(false)} onStarted={onStarted} />
        : null}
    </div>
  )
}
