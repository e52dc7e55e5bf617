import { useVirtualizer } from "@tanstack/react-virtual"
import { useDeferredValue, useRef, useState } from "react"
import { Link, useLocation } from "wouter"
import { hasFailedLastRun, type LastRun, type ObservedProject, type Overview } from "../../schema/overview.ts"
import { type FileProblem, formatFileProblem, type LocalProject } from "../../schema/projects.ts"
import { findProtectedEnvironment, listDeployPlaces } from "../../schema/targets.ts"
import { useNarrow } from "../browser.ts"
import { StackMenu } from "../projects/Actions.tsx"
import { DeployDialog } from "../projects/Deploy.tsx"
import { buildProjectHref, buildStateBadge, isReady, useProjectChanges } from "../projects/state.ts"
import { formatCount, useServers } from "../service.ts"
import { Age, Badge, Button, Empty, FirstLink, Icon, Panel, Search, type Tone } from "../ui/components.tsx"
import { ProjectSpark } from "../usage/lazyUsage.tsx"
import { Bulk } from "./Bulk.tsx"

/** Groups of the project list, in display order. */
const projectGroups = ["Broken", "To deploy", "Running", "Stopped", "Looking …", "Not set up"] as const
type ProjectGroup = (typeof projectGroups)[number]

/** Group of a project: broken things first, then those with something to deploy. */
const chooseProjectGroup = (
  project: LocalProject,
  observed: ObservedProject | undefined,
  changes: number | null
): ProjectGroup => {
  if ((observed?.problems ?? project.problems ?? []).length > 0) return "Broken"
  if (observed === undefined) return isReady(project) ? "Looking …" : "Not set up"
  if (observed.state === "degraded" || hasFailedLastRun(observed)) return "Broken"
  switch (observed.state) {
    case "unknown":
      return isReady(project) ? "Broken" : "Not set up"
    case "stopped":
      return "Stopped"
    case "not deployed":
      return isReady(project) ? "To deploy" : "Not set up"
    case "running":
      return (changes ?? 0) > 0 ? "To deploy" : "Running"
  }
}

/** Actions of a project's row: deploy it, read its log, and more. */
const RowActions = ({ observed, project }: {
  readonly project: LocalProject
  readonly observed: ObservedProject | undefined
}) => {
  const [asking, setAsking] = useState(false)
  const [, go] = useLocation()
  const { name } = project
  const [stack] = observed?.servers ?? []
  const [place] = listDeployPlaces(project)
  if (!isReady(project) || place === undefined) return null
  const { remotePath, serverId } = place
  const underWay = observed === undefined || observed.run !== null
  return (
    <>
      <Button
        icon="play"
        look="small"
        changes
        disabled={underWay}
        onClick={() => project.environments === undefined ? setAsking(true) : go(buildProjectHref(name))}
      >
        Deploy<span className="unseen">{name}</span>
      </Button>
      {(stack?.containerNames.length ?? 0) === 0 ?
        null :
        (
          <Button icon="log" look="small" onClick={() => go(`${buildProjectHref(name)}#log`)}>
            Log<span className="unseen">of {name}</span>
          </Button>
        )}
      <StackMenu
        label={`More for ${name}`}
        name={name}
        stack={{ serverId, remotePath, protectedName: findProtectedEnvironment(project, place) }}
        state={observed?.state}
        isUp={(stack?.containers?.up ?? 0) > 0}
        underWay={underWay}
        onStarted={({ id }) => go(`/activity/${id}`)}
      >
        <Button look="menu-item" icon="eye" onClick={() => go(buildProjectHref(name, "changes"))}>
          See the changes
        </Button>
        <Button look="menu-item" icon="activity" onClick={() => go(buildProjectHref(name, "runs"))}>
          Runs and releases
        </Button>
      </StackMenu>
      {asking
        ? (
          <DeployDialog
            project={project}
            onClose={() => setAsking(false)}
            onStarted={() => go(buildProjectHref(name))}
          />
        )
        : null}
    </>
  )
}

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
    return { tone: "idle", words: listDeployPlaces(project).length === 0 ? "no server yet" : "no compose file" }
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
const ProjectRow = ({ changes, chosen, observed, onChoose, project, serverName }: {
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
