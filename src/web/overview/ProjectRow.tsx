import { Link } from "wouter"
import type { LastRun, ObservedProject } from "../../schema/Overview.ts"
import { type FileProblem, formatFileProblem, type LocalProject } from "../../schema/projects/Project.ts"
import { formatCount } from "../format/format.ts"
import { buildProjectHref } from "../projects/projectHref.ts"
import { buildStateBadge } from "../projects/state/stateBadge.ts"
import { isReady } from "../projects/state/usePlan.ts"
import { Age } from "../ui/Age.tsx"
import { Badge } from "../ui/Badge.tsx"
import { FirstLink } from "../ui/Links.tsx"
import type { Tone } from "../ui/tone.ts"
import { ProjectSpark } from "../usage/lazyUsage.tsx"
import { RowActions } from "./RowActions.tsx"

const placeOf = ({ file, line }: FileProblem) =>
  `${file.split(/[\\/]/).at(-1) ?? file}${line === null ? "" : `:${line}`}`

/** State in a few words, with the full reason for the tooltip. */
const stateOf = (
  project: LocalProject,
  observed: ObservedProject | undefined
): { readonly tone: Tone; readonly words: string; readonly reason?: string | undefined } => {
  const [problem] = observed?.problems ?? project.problems ?? []
  if (problem !== undefined) {
    return { tone: "bad", words: `${placeOf(problem)} cannot be used`, reason: formatFileProblem(problem) }
  }
  if (observed === undefined) return { tone: "idle", words: "…" }
  if (observed.run !== null) return { tone: "busy", words: `${observed.run.kind} under way` }
  if (observed.state === "not deployed" && !isReady(project)) {
    return { tone: "idle", words: project.serverId === null ? "no server yet" : "no compose file" }
  }
  return { ...buildStateBadge(observed), reason: observed.stateReason ?? undefined }
}

const runTones: Partial<Record<LastRun["state"], Tone>> = { failed: "bad", interrupted: "bad", cancelled: "warn" }

const Last = ({ run: { endedAt, id, kind, reason, requestedBy, state } }: { readonly run: LastRun }) => (
  <span className="two-lines" title={reason ?? undefined}>
    <Link className={`link-quiet ${runTones[state] ?? ""}`} href={`/activity/${id}`}>
      {kind} {state}
    </Link>
    <span className="quiet">
      {endedAt === null ? null : <Age at={endedAt} />} by {requestedBy.name}, {requestedBy.door}
    </span>
  </span>
)

/** Row of a project: state, server, link, last run and changes, with its actions. */
export const ProjectRow = ({ changes, chosen, observed, onChoose, project, serverName }: {
  readonly project: LocalProject
  readonly observed: ObservedProject | undefined
  readonly changes: number | null
  readonly serverName: string | undefined
  readonly chosen: boolean
  readonly onChoose: (chosen: boolean) => void
}) => {
  const { reason, tone, words } = stateOf(project, observed)
  const ready = isReady(project)
  const stack = observed?.servers[0]
  return (
    <>
      <span role="cell" className="choose">
        {ready
          ? (
            <input
              type="checkbox"
              aria-label={`Choose ${project.name}`}
              checked={chosen}
              onChange={(event) => onChoose(event.target.checked)}
            />
          )
          : null}
      </span>
      <span role="cell" className="two-lines name" title={reason}>
        <Link className="strong row-link" href={buildProjectHref(project.name)}>{project.name}</Link>
        <span className={`state ${tone}`}>
          <span className={`dot ${tone}`} />
          <span>{words}</span>
          {stack === undefined || (stack.containers?.up ?? 0) === 0
            ? null
            : <ProjectSpark name={project.name} serverId={stack.serverId} containers={stack.containerNames} />}
        </span>
      </span>
      <span role="cell" className="place">{serverName ?? <span className="quiet">–</span>}</span>
      <span role="cell" className="out">
        <FirstLink urls={observed?.urls ?? []} />
      </span>
      <span role="cell" className="last">
        {observed?.lastRun == null ? <span className="quiet">never run</span> : <Last run={observed.lastRun} />}
      </span>
      <span role="cell" className="changes">
        {!ready || changes === null
          ? <span className="quiet">{ready && observed === undefined ? "…" : ""}</span>
          : changes === 0
          ? <span className="quiet">no changes</span>
          : <Badge tone="warn" plain>{formatCount(changes, "change")}</Badge>}
      </span>
      <span role="cell" className="row-actions">
        <RowActions project={project} observed={observed} />
      </span>
    </>
  )
}
