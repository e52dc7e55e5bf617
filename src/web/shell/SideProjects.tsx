import { useVirtualizer } from "@tanstack/react-virtual"
import { useRef } from "react"
import { Link, useLocation } from "wouter"
import type { LocalProject } from "../../schema/Project.ts"
import { projectTone, useOverview } from "../overview/useOverview.ts"
import { changesOf, useComparison } from "../projects/standing.ts"
import { countChanges, usePlan } from "../projects/usePlan.ts"
import { useProjects } from "../service/queries.ts"
import type { Tone } from "../ui/Badge.tsx"

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
  // What other screens have compared is shown; the list by itself asks no server.
  const { data } = useComparison(project, false)
  const plan = usePlan(project, false).data
  const changes = plan === undefined ? data === undefined ? 0 : changesOf(data).length : countChanges(plan)
  const shown = tone === "good" && changes > 0 ? "warn" : tone
  return (
    <Link
      className="project-link"
      href={`/projects/${encodeURIComponent(project.name)}`}
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

/** The projects, with how each stands. */
export const SideProjects = () => {
  const { data: known } = useProjects()
  const data = known ?? []
  const overview = useOverview()
  const [place] = useLocation()
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
                tone={projectTone(observed.get(project.path))}
                isHere={place === `/projects/${encodeURIComponent(project.name)}`}
              />
            )
          })}
        </div>
      </nav>
    </>
  )
}
