import { useVirtualizer } from "@tanstack/react-virtual"
import { useDeferredValue, useRef, useState } from "react"
import { Link } from "wouter"
import type { ObservedProject, Overview } from "../../schema/Overview.ts"
import type { LocalProject } from "../../schema/Project.ts"
import { changesOf, useComparison } from "../projects/standing.ts"
import { Badge } from "../ui/Badge.tsx"
import { Empty } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { Search } from "../ui/Search.tsx"
import { counted } from "../ui/words.ts"
import { stackWords } from "./useOverview.ts"

const height = 46

const Against = ({ project }: { readonly project: LocalProject }) => {
  const { data, error } = useComparison(project)
  if (project.problems !== undefined) return <Badge tone="bad">container.json cannot be read</Badge>
  if (project.serverId === null) return <span className="quiet">no server yet</span>
  if (!project.hasComposeFile) return <span className="quiet">no compose file</span>
  if (data === undefined) {
    return error === null
      ? <span className="quiet">…</span>
      : <Badge tone="bad">not compared</Badge>
  }
  const count = changesOf(data).length
  return count === 0
    ? <Badge tone="good">same</Badge>
    : <Badge tone="warn">{counted(count, "file differs", "files differ")}</Badge>
}

const Stacks = ({ observed, project }: {
  readonly project: LocalProject
  readonly observed: ObservedProject | undefined
}) => {
  if (observed === undefined) return <span className="quiet">…</span>
  if (observed.run !== null) return <Badge tone="busy">{observed.run.kind} under way</Badge>
  const own = observed.servers.find(({ serverId }) => serverId === project.serverId) ?? observed.servers[0]
  if (own === undefined) return <span className="quiet">–</span>
  const { tone, words } = stackWords(own)
  return <Badge tone={tone}>{words}</Badge>
}

/** Every project of this machine, one row each. */
export const AllProjects = ({ overview, projects }: {
  readonly projects: ReadonlyArray<LocalProject>
  readonly overview: Overview | undefined
}) => {
  const [filter, setFilter] = useState("")
  const wanted = useDeferredValue(filter.toLowerCase())
  const found = wanted === "" ? projects : projects.filter(({ name }) => name.toLowerCase().includes(wanted))
  const observed = new Map(overview?.projects.map((project) => [project.path, project]))
  const frame = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: found.length,
    getScrollElement: () => frame.current,
    estimateSize: () => height,
    overscan: 4
  })
  return (
    <Panel
      title="Projects"
      note={counted(projects.length, "project")}
      aside={<Search label="Filter the projects" value={filter} onChange={setFilter} />}
    >
      {projects.length === 0
        ? (
          <Empty title="No projects yet">
            A project is a directory under <code>projects.root</code>{" "}
            with a Dockerfile, a compose file or a platform.json.
          </Empty>
        )
        : found.length === 0
        ? <Empty title="No project fits" icon="search">None has “{filter}” in its name.</Empty>
        : (
          <div role="table" aria-label="Projects" aria-rowcount={found.length + 1}>
            <div className="grid-head" role="row">
              {["Project", "State", "Against the server", "Archive"].map((name) => (
                <span key={name} role="columnheader">{name}</span>
              ))}
            </div>
            <div className="grid-body" ref={frame} role="rowgroup" tabIndex={0} aria-label="Rows of projects">
              <div role="presentation" style={{ height: rows.getTotalSize(), position: "relative" }}>
                {rows.getVirtualItems().map(({ index, start }) => {
                  const project = found[index]
                  return project === undefined ? null : (
                    <div
                      key={project.path}
                      className="grid-row placed"
                      role="row"
                      aria-rowindex={index + 2}
                      style={{ transform: `translateY(${start}px)` }}
                    >
                      <span role="cell">
                        <Link className="strong" href={`/projects/${encodeURIComponent(project.name)}`}>
                          {project.name}
                        </Link>
                      </span>
                      <span role="cell">
                        <Stacks project={project} observed={observed.get(project.path)} />
                      </span>
                      <span role="cell">
                        <Against project={project} />
                      </span>
                      <span role="cell" className="mono quiet">{project.tarFile ?? "–"}</span>
                    </div>
                  )
                })}
              </div>
            </div>
          </div>
        )}
    </Panel>
  )
}
