import { useVirtualizer } from "@tanstack/react-virtual"
import { useRef } from "react"
import { Link, useLocation } from "wouter"
import type { LocalProject } from "../../schema/projects/Project.ts"
import { buildProjectHref, parseProjectName } from "../projects/projectHref.ts"
import { toProjectTone } from "../projects/state/stateBadge.ts"
import { useChanges } from "../projects/state/useChanges.ts"
import { useOverview, useProjects } from "../service/queries.ts"
import type { Tone } from "../ui/tone.ts"

const height = 36

const words: Readonly<Record<Tone, string>> = {
  good: "runs",
  warn: "is stopped or differs",
  bad: "is not well",
  busy: "is being deployed",
  idle: ""
}

const Row = ({ isHere, project, start, tone }: {
  readonly project: LocalProject
  readonly tone: Tone
  readonly start: number
  readonly isHere: boolean
}) => {
  const changes = useChanges(project) ?? 0
  const shown = tone === "good" && changes > 0 ? "warn" : tone
  return (
    <Link
      className="project-link"
      href={buildProjectHref(project.name)}
      aria-current={isHere ? "page" : undefined}
      style={{ transform: `translateY(${start}px)` }}
    >
      <span className={`dot ${shown === "idle" ? project.serverId === null ? "none" : "idle" : shown}`} />
      <span className="name">{project.name}</span>
      <span className="unseen">{words[shown]}</span>
      {changes === 0 ? null : (
        <span className="count">
          {changes}
          <span className="unseen">changes</span>
        </span>
      )}
    </Link>
  )
}

/** Projects with their state. */
export const SideProjects = () => {
  const { data: known } = useProjects()
  const data = known ?? []
  const overview = useOverview()
  const [place] = useLocation()
  const here = parseProjectName(place)
  const frame = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: data.length,
    getScrollElement: () => frame.current,
    estimateSize: () => height,
    overscan: 6
  })
  const observed = new Map(overview.data?.projects.map((project) => [project.path, project]))
  return (
    <>
      <div className="side-title">
        Projects {known === undefined ? null : <span className="numbers">{known.length}</span>}
      </div>
      <nav className="side-projects" ref={frame} aria-label="Projects">
        <div style={{ height: rows.getTotalSize(), position: "relative" }}>
          {rows.getVirtualItems().map(({ index, start }) => {
            const project = data[index]
            return project === undefined ? null : (
              <Row
                key={project.path}
                project={project}
                start={start}
                tone={toProjectTone(observed.get(project.path))}
                isHere={project.name === here}
              />
            )
          })}
        </div>
      </nav>
    </>
  )
}
