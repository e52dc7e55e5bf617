import { type ReactNode, useState } from "react"
import { Link, useLocation, useSearchParams } from "wouter"
import { filterChangedParts } from "../../schema/deploys.ts"
import type { LocalProject } from "../../schema/projects.ts"
import { isEnded, type Run } from "../../schema/runs.ts"
import type { Server } from "../../schema/servers.ts"
import { listDeployPlaces, narrowToPlace } from "../../schema/targets.ts"
import { useAnchor } from "../browser.ts"
import { Logs } from "../logs/Logs.tsx"
import { CancelRun } from "../runs/RunPanel.tsx"
import { RunStrip } from "../runs/RunStrip.tsx"
import { formatCount, useOverview, useProjects, useRun, useServers, useStackRuns } from "../service.ts"
import {
  Age,
  Badge,
  Button,
  CopyButton,
  Empty,
  Failure,
  Head,
  Links,
  OutLink,
  Panel,
  Waiting
} from "../ui/components.tsx"
import { ProjectActions, Remedies, Services } from "./Actions.tsx"
import { Applications, Data, DeployDialog, PlanPanel, TimeLine, VariablesPart } from "./Deploy.tsx"
import {
  buildProjectHref,
  formatRunTitle,
  type ObservedState,
  type ProjectTab,
  projectTabs,
  useChangeCount,
  useComparison,
  usePlan,
  useProjectState,
  useRefetchComparison
} from "./state.ts"
import { Unready } from "./Unready.tsx"

/** Header of a project's screen, which stays visible: state, link, actions and tabs. */
const ProjectHead = ({ actions, name, standing, tabs }: {
  readonly name: string
  readonly standing: ObservedState
  readonly actions: ReactNode
  readonly tabs: ReactNode
}) => {
  const [url] = standing.urls
  return (
    <div className="project-head">
      <Head
        title={name}
        under={{ name: "Projects", href: "/" }}
        state={
          <>
            <Badge tone={standing.tone}>{standing.words}</Badge>
            <Age at={standing.seenAt} before="seen " />
            {url === undefined ? null : <OutLink url={url} />}
          </>
        }
        actions={actions}
      />
      {tabs}
    </div>
  )
}

/** Location and links of a project; paths and links can be copied. */
const ProjectFacts = ({ project: { environment, path, remotePath, tarFile }, server, urls }: {
  readonly project: LocalProject
  readonly server: Server | undefined
  readonly urls: ReadonlyArray<string>
}) => (
  <dl className="facts project-facts">
    {urls.length === 0 ? null : (
      <div>
        <dt>Links</dt>
        <dd>
          <Links urls={urls} />
        </dd>
      </div>
    )}
    {server === undefined ? null : (
      <div>
        <dt>Server</dt>
        <dd>
          <Link href={`/servers/${encodeURIComponent(server.id)}`}>
            {server.name} · {server.username}@{server.host}:{server.port}
          </Link>
        </dd>
      </div>
    )}
    {environment === undefined ? null : (
      <div>
        <dt>Environment</dt>
        <dd>{environment}</dd>
      </div>
    )}
    <div>
      <dt>Path</dt>
      <dd className="with-copy">
        <code>{remotePath}</code>
        <CopyButton name="the remote path" text={remotePath} />
      </dd>
    </div>
    <div>
      <dt>Here</dt>
      <dd className="with-copy">
        <code>{path}</code>
        <CopyButton name="the local path" text={path} />
      </dd>
    </div>
    <div>
      <dt>Archive</dt>
      <dd>{tarFile === null ? "none" : <code>{tarFile}</code>}</dd>
    </div>
  </dl>
)

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
  const { files, images, removed } = filterChangedParts(data)
  const names = [...files, ...images, ...removed].map((part) => part.name)
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
const ProjectPart = ({ tab, ...props }: PartProps & { readonly tab: ProjectTab }) => {
  switch (tab) {
    case "":
      return <Now {...props} />
    case "changes":
      return <Changes {...props} />
    case "runs":
      return <TimeLine project={props.project} serverId={props.serverId} onStarted={props.onStarted} />
    case "data":
      return <Data project={props.project} serverId={props.serverId} onStarted={props.onStarted} />
    case "variables":
      return <VariablesPart project={props.project} />
    case "application":
      return <Applications project={props.project} />
  }
}

/** Tabs of a project; each has its own address. */
const Tabs = ({ counts, current, name, shown }: {
  readonly name: string
  readonly current: ProjectTab
  readonly shown: ReadonlySet<ProjectTab>
  /** Numbers beside the names of tabs. */
  readonly counts: Partial<Record<ProjectTab, number>>
}) => (
  <nav className="tabs" aria-label={`Parts of ${name}`}>
    {projectTabs.filter(([tab]) => shown.has(tab)).map(([tab, words, more]) => {
      const count = counts[tab] ?? 0
      return (
        <Link key={tab} href={buildProjectHref(name, tab)} aria-current={tab === current ? "page" : undefined}>
          <span>
            {words}
            {more === undefined ? null : <span className="wide-only">{` ${more}`}</span>}
          </span>
          {count === 0 ? null : <span className="count">{count}</span>}
        </Link>
      )
    })}
  </nav>
)

/** Newest run of the stack: the one that was started here, or a newer one of another user. Ids sort by time. */
const useNewestRun = (serverId: string, remotePath: string, started: string) => {
  const last = useStackRuns(serverId, remotePath).data?.[0]
  const newest = [started, last?.parent ?? last?.id ?? ""].toSorted().at(-1)
  return useRun(newest === "" ? undefined : newest)
}

/** Screen of a deployable project: header with the tabs, the current or last run, and the chosen tab. */
const ReadyProject = ({ choice, project, server, serverId, tab }: {
  readonly project: LocalProject
  /** Control that selects one of several targets. */
  readonly choice: ReactNode
  readonly serverId: string
  readonly server: Server | undefined
  readonly tab: ProjectTab
}) => {
  const { hasPlatformJson, name, remotePath } = project
  const [, go] = useLocation()
  const standing = useProjectState(project)
  const plan = usePlan(project)
  const changes = useChangeCount(project, plan)
  const [started, setStarted] = useState("")
  const [asking, setAsking] = useState(false)
  const watched = useNewestRun(serverId, remotePath, started)
  const run = watched.run !== undefined && !isEnded(watched.run.state) ? watched.run : undefined
  const onStarted = ({ id }: Run) => setStarted(id)
  const shown = new Set<ProjectTab>([
    "",
    "changes",
    "runs",
    "data",
    "variables",
    ...hasPlatformJson ? ["application" as const] : []
  ])
  const part = { project, serverId, standing, plan, onStarted }
  return (
    <div className="page">
      <ProjectHead
        name={name}
        standing={standing}
        tabs={<Tabs name={name} current={tab} shown={shown} counts={{ changes }} />}
        actions={
          <ProjectActions
            {...part}
            changes={changes}
            run={run}
            choice={choice}
            onDeploy={() => setAsking(true)}
          />
        }
      />
      <ProjectFacts project={project} server={server} urls={standing.urls} />
      {standing.reason === null ? null : (
        <Panel title="The state of its containers is unknown">
          <Failure error={new Error(standing.reason)} />
        </Panel>
      )}
      {tab === "changes" ? null : (
        <>
          <Failure error={plan.error} again={plan.refetch} />
          {(plan.data?.obstacles ?? []).map((obstacle) => <Failure key={obstacle} error={new Error(obstacle)} />)}
        </>
      )}
      <RunStrip
        title={formatRunTitle}
        watched={watched}
        aside={run === undefined ? undefined : <CancelRun run={run} />}
        next={watched.run === undefined ? undefined : <Remedies run={watched.run} onStarted={onStarted} />}
      />
      <ProjectPart {...part} tab={tab} />
      {asking
        ? (
          <DeployDialog
            project={project}
            onClose={() => setAsking(false)}
            onStarted={(deploy) => {
              onStarted(deploy)
              if (tab !== "" && tab !== "changes") go(buildProjectHref(name))
            }}
          />
        )
        : null}
    </div>
  )
}

const underProjects = { name: "Projects", href: "/" }

/** Target of a project by its number in the address, else the first one, with the control that selects another. */
const useTarget = (project: LocalProject | undefined, servers: ReadonlyArray<Server>) => {
  const [params, setParams] = useSearchParams()
  const targets = project === undefined ? [] : listDeployPlaces(project)
  const number = Number(params.get("target") ?? "1")
  const target = targets[number - 1] ?? targets[0]
  if (project === undefined || target === undefined) return { shown: project, choice: undefined }
  const shown = narrowToPlace(project, target)
  if (targets.length === 1 && target.environment === undefined && project.targets === undefined) {
    return { shown, choice: undefined }
  }
  const choice = (
    <select
      className="select"
      aria-label="Target that is shown"
      value={targets.indexOf(target) + 1}
      onChange={(event) => setParams({ target: event.target.value })}
    >
      {targets.map(({ environment, remotePath, serverId }, index) => (
        <option key={`${environment} ${serverId} ${remotePath}`} value={index + 1}>
          {environment === undefined ? null : `${environment}: `}
          {servers.find(({ id }) =>
            id === serverId
          )?.name ?? serverId} · {remotePath}
        </option>
      ))}
    </select>
  )
  return { shown, choice }
}

/** Screen of a project: its tabs if it can be deployed, else its missing requirements. */
export const Project = ({ name, tab: asked = "" }: { readonly name: string; readonly tab?: string | undefined }) => {
  const projects = useProjects()
  const servers = useServers().data ?? []
  const { choice, shown: project } = useTarget(projects.data?.find((each) => each.name === name), servers)
  const tab = projectTabs.find(([place]) => place === asked)?.[0]
  if (project === undefined || tab === undefined) {
    return (
      <div className="page">
        <Head title={name} under={underProjects} />
        <Panel title="Projects">
          {projects.error !== null
            ? <Failure error={projects.error} again={projects.refetch} />
            : projects.isPending
            ? <Waiting what="the project" />
            : (
              <Empty title={tab === undefined ? "A project has no such part" : "There is no project of this name"}>
                <Link className="link" href="/">The overview</Link> lists the projects that there are.
              </Empty>
            )}
        </Panel>
      </div>
    )
  }
  const { hasComposeFile, hasPlatformJson, remotePath, serverId, tarFile } = project
  if (serverId !== null && hasComposeFile) {
    return (
      <ReadyProject
        project={project}
        choice={choice}
        serverId={serverId}
        server={servers.find(({ id }) => id === serverId)}
        tab={tab}
      />
    )
  }
  return (
    <div className="page">
      <Head
        title={project.name}
        under={underProjects}
        facts={[["Path", <code>{remotePath}</code>], ["Archive", tarFile === null ? "none" : <code>{tarFile}</code>]]}
      />
      <Unready project={project} servers={servers} />
      {hasPlatformJson ? <Applications project={project} /> : null}
    </div>
  )
}
