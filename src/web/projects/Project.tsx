import { useRef, useState } from "react"
import { Link } from "wouter"
import { isEnded, type Run } from "../../schema/Run.ts"
import { Logs } from "../logs/Logs.tsx"
import { CancelRun } from "../runs/CancelRun.tsx"
import { RunPanel } from "../runs/RunPanel.tsx"
import { useRun } from "../runs/useRun.ts"
import { slowPoll, useCall, useProjects, useServers } from "../service/queries.ts"
import { useStartRun } from "../service/startRun.ts"
import { Age } from "../ui/Age.tsx"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { Head } from "../ui/Head.tsx"
import { Empty, Failure, Waiting } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { useKey } from "../ui/Search.tsx"
import { counted } from "../ui/words.ts"
import { Applications } from "./Applications.tsx"
import { ConfirmDeploy } from "./ConfirmDeploy.tsx"
import { PlanPanel } from "./PlanPanel.tsx"
import { changesOf, portsOf, useCompareAgain, useComparison, useStanding } from "./standing.ts"
import { Unready } from "./Unready.tsx"

const runTitle = (run: Run | undefined) => {
  const kind = run?.kind === "rollback" ? "rollback" : "deploy"
  if (run === undefined || isEnded(run.state)) return `Last ${kind}`
  return kind === "deploy" ? "Deploying" : "Rolling back"
}

/** A project: how it stands, what a deploy would change, its last run, its log, its releases. */
export const Project = ({ name }: { readonly name: string }) => {
  const projects = useProjects()
  const servers = useServers()
  const project = projects.data?.find((each) => each.name === name)
  const server = servers.data?.find(({ id }) => id === project?.serverId)
  const standing = useStanding(project)
  const comparison = useComparison(project)
  const compareAgain = useCompareAgain(project)
  const path = project?.path ?? ""
  const runs = useCall(
    ["runs", "of", path],
    (berth) => berth.listRuns({ urlParams: { projectPath: path, limit: 10 } }),
    {
      enabled: path !== "",
      every: slowPoll
    }
  )
  const [started, setStarted] = useState<string>()
  const [asking, setAsking] = useState(false)
  const listed = runs.data?.runs.find(({ kind }) => kind === "deploy" || kind === "rollback")
  const watched = useRun(started ?? listed?.id)
  const { error, isPending, mutate } = useStartRun(({ id }) => setStarted(id))
  const button = useRef<HTMLButtonElement>(null)
  useKey("d", () => button.current?.focus())

  if (project === undefined) {
    if (projects.isPending) return <Waiting what="the project" />
    if (projects.error !== null) return <Failure error={projects.error} again={projects.refetch} />
    return (
      <div className="page">
        <Head title={name} under={{ name: "Projects", href: "/" }} />
        <Panel title="Not here">
          <Empty title="There is no project of this name">
            <Link className="link" href="/">The overview</Link> lists the projects that there are.
          </Empty>
        </Panel>
      </div>
    )
  }
  const underWay = watched.run !== undefined && !isEnded(watched.run.state)
  const changes = comparison.data === undefined ? 0 : changesOf(comparison.data).length
  const ready = project.serverId !== null && project.hasComposeFile
  const ports = portsOf(standing.containers)
  const deploy = () => {
    setAsking(false)
    const payload = { projectPath: project.path, serverId: project.serverId ?? "", remotePath: project.remotePath }
    mutate((berth) => berth.deploy({ payload }))
  }
  return (
    <div className="page">
      <Head
        title={project.name}
        under={{ name: "Projects", href: "/" }}
        state={
          <>
            <Badge tone={standing.tone}>{standing.words}</Badge>
            <Age at={standing.seenAt} before="seen " />
          </>
        }
        facts={[
          ...server === undefined
            ? []
            : [
              [
                "Server",
                <Link href={`/servers/${encodeURIComponent(server.id)}`}>
                  {server.name} · {server.username}@{server.host}:{server.port}
                </Link>
              ] as const
            ],
          ["Path", <code>{project.remotePath}</code>],
          ...ports === "" ? [] : [["Ports", <code>{ports}</code>] as const],
          ["Archive", project.tarFile === null ? "none" : <code>{project.tarFile}</code>]
        ]}
        actions={ready
          ? (
            <>
              <Button icon="again" disabled={comparison.isFetching} onClick={compareAgain}>Compare again</Button>
              <Button
                ref={button}
                icon="play"
                look="main-action"
                disabled={underWay || isPending || comparison.data === undefined}
                onClick={() => setAsking(true)}
              >
                {underWay || isPending
                  ? "Deploying …"
                  : comparison.data === undefined
                  ? "Deploy"
                  : changes === 0
                  ? "Deploy again"
                  : `Deploy ${counted(changes, "change")}`}
                <kbd aria-hidden="true">d</kbd>
              </Button>
            </>
          )
          : undefined}
      />
      {standing.error === null ? null : (
        <Panel title="Its containers cannot be seen">
          <Failure error={standing.error} />
        </Panel>
      )}
      {error === null ? null : (
        <Panel title="The deploy was not started">
          <Failure error={error} />
        </Panel>
      )}
      {ready
        ? (
          <div className="columns">
            <PlanPanel comparison={comparison} />
            <RunPanel
              title={runTitle}
              watched={watched}
              aside={underWay && watched.run !== undefined ? <CancelRun run={watched.run} /> : undefined}
              {...listed === undefined && started === undefined && !runs.isPending
                ? {
                  empty: (
                    <Empty title="Not deployed from here yet" icon="play">
                      Its steps, bytes and times will stand here.
                    </Empty>
                  )
                }
                : {}}
            />
          </div>
        )
        : <Unready project={project} servers={servers.data ?? []} />}
      {ready && project.serverId !== null && standing.containers.length > 0
        ? (
          <Logs
            key={project.path}
            name={project.name}
            serverId={project.serverId}
            target={{ remotePath: project.remotePath }}
          />
        )
        : null}
      {project.hasPlatformJson ? <Applications project={project} /> : null}
      {asking && comparison.data !== undefined
        ? (
          <ConfirmDeploy
            project={project}
            server={server}
            comparison={comparison.data}
            onConfirm={deploy}
            onClose={() => setAsking(false)}
          />
        )
        : null}
    </div>
  )
}
