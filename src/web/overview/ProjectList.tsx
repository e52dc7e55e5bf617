import { useVirtualizer } from "@tanstack/react-virtual"
import { useDeferredValue, useRef, useState } from "react"
import type { ObservedProject, Overview } from "../../schema/Overview.ts"
import type { LocalProject } from "../../schema/projects/Project.ts"
import { useNarrow } from "../browser/useNarrow.ts"
import { formatCount } from "../format/format.ts"
import { useProjectChanges } from "../projects/state/useChanges.ts"
import { useServers } from "../service/queries.ts"
import { Icon } from "../ui/Icon.tsx"
import { Empty } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { Search } from "../ui/Search.tsx"
import { Bulk } from "./Bulk.tsx"
import { chooseProjectGroup, type ProjectGroup, projectGroups } from "./chooseProjectGroup.ts"
import { ProjectRow } from "./ProjectRow.tsx"

const heights = { group: 42, wide: 62, narrow: 118 } as const

interface Listed {
  readonly project: LocalProject
  readonly observed: ObservedProject | undefined
  readonly changes: number | null
}

type Item = { readonly group: ProjectGroup; readonly count: number } | Listed

const keyOf = (item: Item) => ("group" in item ? `group ${item.group}` : item.project.path)

/** Lists groups followed by their projects; leaves out the projects of folded groups. */
const itemsOf = (listed: ReadonlyArray<Listed>, folded: ReadonlySet<ProjectGroup>): ReadonlyArray<Item> => {
  const grouped = listed.map((one) => ({ one, group: chooseProjectGroup(one.project, one.observed, one.changes) }))
  return projectGroups.flatMap((group): ReadonlyArray<Item> => {
    const members = grouped.flatMap((each) => (each.group === group ? [each.one] : []))
    return members.length === 0 ? [] : [{ group, count: members.length }, ...folded.has(group) ? [] : members]
  })
}

const Columns = () => (
  <div className="grid-head project-grid" role="row">
    {["Choose", "Project", "Server", "Link", "Last run", "Changes", "Actions"].map((name) => (
      <span key={name} role="columnheader">
        {name === "Choose" || name === "Actions" ? <span className="unseen">{name}</span> : name}
      </span>
    ))}
  </div>
)

const GroupRow = ({ count, group, isOpen, onToggle }: {
  readonly group: ProjectGroup
  readonly count: number
  readonly isOpen: boolean
  readonly onToggle: () => void
}) => (
  <span role="cell">
    <button type="button" className="group-button" aria-expanded={isOpen} onClick={onToggle}>
      <Icon name="right" />
      <span>{group}</span>
      <span className="quiet numbers">{count}</span>
    </button>
  </span>
)

/** List of projects, grouped by the action that they need; several can be chosen for one action. */
export const ProjectList = ({ overview, projects }: {
  readonly projects: ReadonlyArray<LocalProject>
  readonly overview: Overview | undefined
}) => {
  const [filter, setFilter] = useState("")
  const [folded, setFolded] = useState<ReadonlySet<ProjectGroup>>(new Set(["Not set up"]))
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const wanted = useDeferredValue(filter.toLowerCase())
  const narrow = useNarrow()
  const servers = useServers().data ?? []
  const changesOf = useProjectChanges()
  const byPath = new Map(overview?.projects.map((project) => [project.path, project]))
  const listed = projects
    .filter(({ name }) => name.toLowerCase().includes(wanted))
    .map((project): Listed => ({ project, observed: byPath.get(project.path), changes: changesOf(project) }))
  const items = itemsOf(listed, wanted === "" ? folded : new Set())
  const frame = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => frame.current,
    estimateSize: (index) => {
      const item = items[index]
      return item !== undefined && "group" in item ? heights.group : narrow ? heights.narrow : heights.wide
    },
    getItemKey: (index) => `${narrow} ${keyOf(items[index] ?? { group: "Looking …", count: 0 })}`,
    overscan: 4
  })
  const toggle = (group: ProjectGroup) =>
    setFolded(folded.has(group) ? new Set([...folded].filter((each) => each !== group)) : new Set([...folded, group]))
  const choose = (path: string, on: boolean) =>
    setChosen(on ? new Set([...chosen, path]) : new Set([...chosen].filter((each) => each !== path)))
  return (
    <Panel
      title="Projects"
      note={formatCount(projects.length, "project")}
      aside={<Search label="Filter the projects" value={filter} onChange={setFilter} />}
    >
      <Bulk
        projects={projects.filter(({ path }) => chosen.has(path))}
        overview={overview}
        onChoose={(paths) => setChosen(new Set(paths))}
      />
      {projects.length === 0
        ? (
          <Empty title="No projects yet">
            A project is a directory under <code>projects.root</code>{" "}
            with a Dockerfile, a compose file or a platform.json.
          </Empty>
        )
        : items.length === 0
        ? <Empty title="No project fits" icon="search">None has “{filter}” in its name.</Empty>
        : (
          <div
            role="table"
            aria-label="Projects"
            aria-rowcount={items.length + 1}
            className={chosen.size > 0 ? "choosing" : ""}
          >
            <Columns />
            <div className="grid-body" ref={frame} role="rowgroup" tabIndex={0} aria-label="Rows of projects">
              <div role="presentation" style={{ height: rows.getTotalSize(), position: "relative" }}>
                {rows.getVirtualItems().map(({ index, key, size, start }) => {
                  const item = items[index]
                  if (item === undefined) return null
                  const place = { transform: `translateY(${start}px)`, height: size }
                  return "group" in item
                    ? (
                      <div key={key} className="group-row placed" role="row" aria-rowindex={index + 2} style={place}>
                        <GroupRow
                          {...item}
                          isOpen={wanted !== "" || !folded.has(item.group)}
                          onToggle={() => toggle(item.group)}
                        />
                      </div>
                    )
                    : (
                      <div
                        key={key}
                        className="grid-row project-grid placed"
                        role="row"
                        aria-rowindex={index + 2}
                        style={place}
                      >
                        <ProjectRow
                          {...item}
                          serverName={servers.find(({ id }) => id === item.project.serverId)?.name ??
                            item.observed?.servers[0]?.serverName ?? undefined}
                          chosen={chosen.has(item.project.path)}
                          onChoose={(on) => choose(item.project.path, on)}
                        />
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
