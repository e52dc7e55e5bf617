import type { UseQueryResult } from "@tanstack/react-query"
import { Link } from "wouter"
import {
  classifyFinding,
  type Health,
  isNearlyFull,
  type NeedsCare,
  type ObservedApplication,
  type ObservedServer,
  type Overview as ObservedOverview
} from "../../schema/overview.ts"
import { formatBytes } from "../../schema/words.ts"
import { buildApplicationHref, toStatusTone } from "../applications/Drift.tsx"
import { UnderWay } from "../runs/RunStrip.tsx"
import { formatCount, useHealth, useOverview, useProjects } from "../service.ts"
import { Age, Badge, Failure, Head, Icon, Loading, Panel, Waiting, Warnings } from "../ui/components.tsx"
import { ProjectList } from "./ProjectList.tsx"

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
const AllApplications = ({ overview }: { readonly overview: ObservedOverview | undefined }) =>
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

const shown = {
  well: { tone: "", icon: "check", words: "is well" },
  unused: { tone: "idle", icon: "minus", words: "is not set up" },
  failed: { tone: "bad", icon: "cross", words: "is not well" }
} as const

type Findings = NonNullable<Health["dependencies"]>

const Lines = ({ findings }: { readonly findings: Findings }) => (
  <ul className="rows">
    {findings.map((finding) => {
      const { detail, fix, latencyMs, name } = finding
      const { icon, tone, words } = shown[classifyFinding(finding)]
      return (
        <li key={name}>
          <span className={`tick ${tone}`}>
            <Icon name={icon} />
          </span>
          <span className="grow">
            <span className="strong">{name}</span> <span className="quiet">{detail}</span>
            {fix === undefined ? null : <span>{" "}{fix}</span>}
            <span className="unseen">{words}</span>
          </span>
          {latencyMs === undefined ? null : <span className="quiet numbers">{Math.round(latencyMs)} ms</span>}
        </li>
      )
    })}
  </ul>
)

const title = "What Berth depends on"

/** Dependencies of the service, with the fix of each failed one; a single line while all are healthy. */
const Dependencies = ({ health: { data, dataUpdatedAt, error, refetch } }: {
  readonly health: UseQueryResult<Health, Error>
}) => {
  const findings = data?.dependencies ?? []
  const isWell = error === null && data !== undefined &&
    findings.every((finding) => classifyFinding(finding) !== "failed")
  if (isWell) {
    const well = findings.filter((finding) => classifyFinding(finding) === "well")
    return (
      <section className="panel" aria-label={title}>
        <details className="fold">
          <summary>
            <span className="tick">
              <Icon name="check" />
            </span>
            <span className="grow">
              <span className="strong">{formatCount(well.length, "check")} well</span>{" "}
              <span className="quiet">{well.map(({ name }) => name).join(", ")}</span>
            </span>
            <Age at={dataUpdatedAt} before="seen " />
          </summary>
          <Lines findings={findings} />
        </details>
      </section>
    )
  }
  return (
    <Panel title={title} aside={<Age at={dataUpdatedAt} before="seen " />}>
      <Loading query={{ data, error, refetch }} what="what Berth depends on" />
      <Lines findings={findings} />
    </Panel>
  )
}

const mostProblems = 12

const segment = encodeURIComponent

/** Link to the screen of the next action. */
const hrefOf = ({ projects }: ObservedOverview, { appName, kind, projectPath, runId, serverId }: NeedsCare): string => {
  const project = projects.find(({ path }) => path === projectPath)
  const projectHref = project === undefined ? "/" : `/projects/${segment(project.name)}`
  switch (kind) {
    case "server":
    case "disk":
      return `/servers/${segment(serverId ?? "")}`
    case "run":
      return `/activity/${segment(runId ?? "")}`
    case "route":
      return "/routes"
    case "application":
      return project === undefined
        ? "/applications"
        : `/applications/${segment(project.name)}/${segment(appName ?? "")}`
    case "stack":
    case "files":
      return projectHref
  }
}

/** Problems, each with its next action; renders nothing if there are none. */
const ProblemList = ({ overview }: { readonly overview: ObservedOverview }) => {
  const { needsCare: care } = overview
  return care.length === 0 ?
    null :
    (
      <Panel
        title="Needs care"
        note={care.length > mostProblems ? `the first ${mostProblems} of ${care.length}` : undefined}
      >
        <ul className="rows">
          {care.slice(0, mostProblems).map((each) => {
            const { action, kind, name, observedAt, reason, severity } = each
            const href = hrefOf(overview, each)
            return (
              <li key={`${kind} ${name} ${href} ${reason}`}>
                <span className={`tick ${severity}`}>
                  <Icon name={severity === "bad" ? "cross" : "alert"} />
                  <span className="unseen">{severity === "bad" ? "does not work:" : "look at this:"}</span>
                </span>
                <span className="grow">
                  <Link className="strong" href={href}>{name}</Link> <span>{reason}</span>
                </span>
                <Age at={observedAt} before="seen " />
                <Link className="button small" href={href}>{action}</Link>
              </li>
            )
          })}
        </ul>
      </Panel>
    )
}

const mostServers = 12

const Meter = ({ full, label, max, value, words }: {
  readonly label: string
  readonly value: number
  readonly max: number
  readonly words: string
  readonly full: boolean
}) => (
  <div className="tile-meter">
    <span className="quiet">{label.split(" of ")[0]}</span>
    <progress className={full ? "full" : ""} max={max} value={Math.min(value, max)} aria-label={label} />
    <span className={`numbers ${full ? "warn" : ""}`}>{words}</span>
  </div>
)

/** Share above which a meter is drawn as full. */
const nearlyAll = 0.9

const Tile = ({ server: { answers, disks, error, id, latencyMs, load, memory, name } }: {
  readonly server: ObservedServer
}) => {
  const isWell = answers && error === undefined
  const used = memory === undefined ? 0 : memory.totalBytes - memory.freeBytes
  return (
    <li className="tile">
      <div className="tile-head">
        <Link className="strong row-link" href={`/servers/${encodeURIComponent(id)}`}>{name}</Link>
        <span className={`state ${isWell ? "good" : "bad"}`} title={error}>
          <span className={`dot ${isWell ? "good" : "bad"}`} />
          <span>
            {isWell
              ? `answers in ${Math.round(latencyMs ?? 0)} ms`
              : answers
              ? "Docker cannot be used"
              : "does not answer"}
          </span>
        </span>
      </div>
      {load === undefined ? null : (
        <Meter
          label={`CPU of ${name}`}
          value={load.minute}
          max={load.processors}
          full={load.minute > load.processors * nearlyAll}
          words={`load ${load.minute.toFixed(1)} of ${load.processors}`}
        />
      )}
      {memory === undefined ? null : (
        <Meter
          label={`Memory of ${name}`}
          value={used}
          max={memory.totalBytes}
          full={used > memory.totalBytes * nearlyAll}
          words={`${formatBytes(used)} of ${formatBytes(memory.totalBytes)}`}
        />
      )}
      {disks.map((disk) => (
        <Meter
          key={disk.mountedOn}
          label={`Disk of ${name}${disks.length > 1 ? ` at ${disk.mountedOn}` : ""}`}
          value={disk.totalBytes - disk.freeBytes}
          max={disk.totalBytes}
          full={isNearlyFull(disk)}
          words={`${formatBytes(disk.freeBytes)} free of ${formatBytes(disk.totalBytes)}`}
        />
      ))}
      {isWell ? null : <p className="bad tile-error">{error}</p>}
    </li>
  )
}

/** Tiles of the servers, unusable ones first. */
const ServerTiles = ({ servers }: { readonly servers: ReadonlyArray<ObservedServer> }) => {
  if (servers.length === 0) return null
  const isBad = ({ answers, error }: ObservedServer) => !answers || error !== undefined
  const sorted = [...servers.filter(isBad), ...servers.filter((server) => !isBad(server))]
  return (
    <section aria-label="Servers">
      <ul className="tiles">
        {sorted.slice(0, mostServers).map((server) => <Tile key={server.id} server={server} />)}
      </ul>
      {servers.length > mostServers
        ? (
          <p className="quiet tiles-more">
            <Link className="link" href="/servers">All {servers.length} servers</Link>
          </p>
        )
        : null}
    </section>
  )
}

/** Start screen: problems, runs in progress, servers, projects and applications. */
export const Overview = () => {
  const { data, error, refetch } = useOverview()
  const projects = useProjects()
  const health = useHealth()
  const care = data?.needsCare ?? []
  const failed = health.data?.dependencies?.filter((one) => classifyFinding(one) === "failed").length ?? 0
  const state = data === undefined
    ? error === null ? "Looking at everything …" : "Nothing could be looked at."
    : care.length > 0
    ? `${formatCount(care.length, "thing needs", "things need")} care.`
    : health.data === undefined || data.errors.length > 0
    ? data.errors.length > 0 ? "Not everything could be seen." : "Nothing needs care."
    : failed === 0
    ? "Everything that Berth depends on answers."
    : `${formatCount(failed, "thing")} that Berth depends on ${failed === 1 ? "does" : "do"} not answer.`
  return (
    <div className="page">
      <Head title="Overview">
        <p className="quiet">
          {state} {data === undefined ? null : <Age at={data.observedAt} before="Seen " />}
        </p>
      </Head>
      {error === null ? null : (
        <Panel title="Not everything could be looked at">
          <Failure error={error} again={refetch} />
        </Panel>
      )}
      {data === undefined || data.errors.length === 0
        ? null
        : (
          <Panel title="Could not be listed">
            <Warnings texts={data.errors} />
          </Panel>
        )}
      {data === undefined ? null : <ProblemList overview={data} />}
      <UnderWay />
      {data === undefined ? null : <ServerTiles servers={data.servers} />}
      {projects.data === undefined
        ? (
          <Panel title="Projects">
            {projects.error === null
              ? <Waiting what="the projects" />
              : <Failure error={projects.error} again={projects.refetch} />}
          </Panel>
        )
        : <ProjectList projects={projects.data} overview={data} />}
      <AllApplications overview={data} />
      <Dependencies health={health} />
    </div>
  )
}
