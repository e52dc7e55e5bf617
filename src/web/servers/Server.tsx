import { useMutation, useQueryClient, type UseQueryResult } from "@tanstack/react-query"
import { useState } from "react"
import { Link, useLocation, useSearchParams } from "wouter"
import type { ObservedServer } from "../../schema/overview.ts"
import type { Server as StoredServer } from "../../schema/servers.ts"
import { type Container, isUp } from "../../schema/stacks.ts"
import { listDeployPlaces } from "../../schema/targets.ts"
import type { ContainerStats } from "../../schema/usage.ts"
import { formatBytes, formatPercent } from "../../schema/words.ts"
import { Logs } from "../logs/Logs.tsx"
import { formatPublishedPorts } from "../projects/state.ts"
import { call, formatCount, useAllContainers, useCall, useOverview, useProjects, useServers } from "../service.ts"
import {
  Age,
  Badge,
  Button,
  Empty,
  Failure,
  Head,
  lazyComponent,
  Loading,
  Panel,
  Scroll,
  toContainerTone,
  Waiting
} from "../ui/components.tsx"
import { ActionDialog } from "../ui/dialogs.tsx"
import { ServerUsage } from "../usage/lazyUsage.tsx"
import { Disks } from "./Disks.tsx"

const Meter = ({ label, max, value, words }: {
  readonly label: string
  readonly value: number
  readonly max: number
  readonly words: string
}) => (
  <span className="meter numbers">
    <progress max={max > 0 ? max : 1} value={Math.min(value, max)} aria-label={label} />
    {words}
  </span>
)

const Row = ({ container, isRead, onRead, stats }: {
  readonly container: Container
  readonly stats: ContainerStats | undefined
  readonly isRead: boolean
  readonly onRead: () => void
}) => {
  const { name, status } = container
  const unmeasured = <span className="quiet">{isUp(status) ? "…" : "–"}</span>
  return (
    <tr>
      <td className="strong">{name}</td>
      <td>
        <Badge tone={toContainerTone(status)}>{status}</Badge>
      </td>
      <td data-label="CPU">
        {stats === undefined
          ? unmeasured
          : (
            <Meter
              label={`CPU of ${name}`}
              value={stats.cpuPercent}
              max={100}
              words={formatPercent(stats.cpuPercent)}
            />
          )}
      </td>
      <td data-label="Memory">
        {stats === undefined ? unmeasured : (
          <Meter
            label={`Memory of ${name}`}
            value={stats.memoryBytes}
            max={stats.memoryLimitBytes}
            words={formatBytes(stats.memoryBytes)}
          />
        )}
      </td>
      <td className="numbers" data-label="Restarts">{stats === undefined ? "" : stats.restarts}</td>
      <td data-label="Ports">
        <code>{formatPublishedPorts([container]) || "–"}</code>
      </td>
      <td className="end">
        <Button look={isRead ? "on small" : "small"} onClick={onRead}>Log</Button>
      </td>
    </tr>
  )
}

/** Containers of a server, including stopped ones, with their resource usage and logs. */
const Containers = ({ containers: { data, error }, onRead, reading, serverId }: {
  readonly serverId: string
  readonly containers: UseQueryResult<{ readonly containers: ReadonlyArray<Container> }, Error>
  readonly reading: string | undefined
  readonly onRead: (name: string | undefined) => void
}) => {
  const stats = useCall(["stats", serverId], (berth) => berth.serverStats({ path: { id: serverId } }), {
    enabled: data?.containers.some(({ status }) => isUp(status)) === true,
    every: 15_000
  })
  if (data === undefined) {
    return error === null
      ? (
        <Panel title="Containers">
          <Waiting what="the containers" />
        </Panel>
      )
      : null
  }
  const running = data.containers.filter(({ status }) => isUp(status))
  const ended = data.containers.length - running.length
  return (
    <Panel
      title="Containers"
      note={`${running.length} running${ended === 0 ? "" : `, ${ended} not`}`}
      aside={<Age at={stats.dataUpdatedAt} before="measured " />}
    >
      <Failure error={stats.error} again={stats.refetch} />
      {data.containers.length === 0 ?
        <Empty title="No container is here">A deploy starts the first stack.</Empty> :
        (
          <Scroll label="Table of containers">
            <table className="keep cards">
              <thead>
                <tr>
                  <th>Container</th>
                  <th>State</th>
                  <th>CPU</th>
                  <th>Memory</th>
                  <th>Restarts</th>
                  <th>Ports</th>
                  <th className="end">
                    <span className="unseen">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {[...running, ...data.containers.filter(({ status }) => !isUp(status))].map((container) => (
                  <Row
                    key={container.name}
                    container={container}
                    stats={stats.data?.containers.find(({ name }) => name === container.name)}
                    isRead={reading === container.name}
                    onRead={() => onRead(reading === container.name ? undefined : container.name)}
                  />
                ))}
              </tbody>
            </table>
          </Scroll>
        )}
    </Panel>
  )
}

/** Explains why the containers of a server cannot be listed, and the consequences. */
const ServerUnavailable = ({ again, dockerIsDown, error, name, onEdit }: {
  readonly name: string
  readonly error: Error
  readonly again: () => unknown
  readonly onEdit: () => void
  readonly dockerIsDown: boolean
}) => (
  <Panel title={dockerIsDown ? "Docker cannot be used" : "It cannot be used now"}>
    <Failure error={error} again={again} />
    {dockerIsDown
      ? (
        <p className="body">
          {name} itself answers, so the log-in is right. On the server, look at{" "}
          <code>systemctl status docker</code>. Stacks cannot be deployed, stopped or started until Docker answers
          again, and what is below is what lies on its disk.
        </p>
      )
      : (
        <div className="body">
          <p className="quiet">
            Nothing is known of what runs there until it answers. Releases and files stay as they are.
          </p>
          <Button changes onClick={onEdit}>Edit the server</Button>
        </div>
      )}
  </Panel>
)

/** Stacks on a server and their local projects; highlights stacks without one. */
const Deployed = ({ serverId }: { readonly serverId: string }) => {
  const { data, dataUpdatedAt, error, refetch } = useCall(
    ["scan", serverId],
    (berth) => berth.scanServer({ path: { id: serverId } }),
    { staleTime: 60_000 }
  )
  const projects = useProjects().data ?? []
  const owners = projects.flatMap((project) =>
    listDeployPlaces(project).flatMap((place) => place.serverId === serverId ? [{ ...place, name: project.name }] : [])
  )
  const ownerOf = (path: string) => owners.find(({ remotePath }) => remotePath === path)
  const strangers = data?.deployed.filter(({ remotePath }) => ownerOf(remotePath) === undefined).length ?? 0
  return (
    <Panel
      title="Deployed"
      note={data === undefined ? undefined : (
        <>
          {formatCount(data.deployed.length, "stack")} under <code>~/containers</code>
          {strangers === 0 ? null : `, ${strangers} without a project`}
        </>
      )}
      aside={<Age at={dataUpdatedAt} before="scanned " />}
    >
      <Loading query={{ data, error, refetch }} what="what is deployed" />
      {data?.deployed.length === 0 ? <Empty title="Nothing is deployed here yet" /> : null}
      <ul className="rows">
        {data?.deployed.map(({ composeFileContent, hasData, hasEnv, name, remotePath, tarFile }) => {
          const project = ownerOf(remotePath)
          return (
            <li key={remotePath}>
              <span className="strong">{name}</span>
              {project === undefined
                ? <Badge tone="warn">no project here</Badge>
                : (
                  <Link className="link" href={`/projects/${encodeURIComponent(project.name)}`}>
                    {project.name}
                    {project.environment === undefined ? null : ` · ${project.environment}`}
                  </Link>
                )}
              <code className="grow quiet">{remotePath}</code>
              <span className="quiet">
                {[tarFile, hasEnv ? ".env" : null, hasData ? "data/" : null].filter((each) => each !== null).join(
                  " · "
                )}
              </span>
              {composeFileContent === null ? null : (
                <details className="compose">
                  <summary className="link">Compose file</summary>
                  <pre className="output" tabIndex={0}>{composeFileContent}</pre>
                </details>
              )}
            </li>
          )
        })}
      </ul>
    </Panel>
  )
}

/** Removes a server from the settings. */
const RemoveServer = ({ onClose, server: { id, name } }: {
  readonly server: StoredServer
  readonly onClose: () => void
}) => {
  const [, go] = useLocation()
  const queries = useQueryClient()
  const { error, isPending, mutate } = useMutation({
    mutationFn: () => call((berth) => berth.removeServer({ path: { id } })),
    onSuccess: async () => {
      go("/servers")
      await queries.invalidateQueries()
    }
  })
  return (
    <ActionDialog
      title={`Remove ${name}?`}
      action="Remove it from the settings"
      danger
      busy={isPending}
      isDone={false}
      onAct={mutate}
      onClose={onClose}
    >
      <p>Berth forgets how to log in to it. Nothing on the server changes, and what runs there goes on.</p>
      <Failure error={error} />
    </ActionDialog>
  )
}

const underServers = { name: "Servers", href: "/servers" }

/** Header of a server's screen: reachability, address, usage and actions. */
const ServerHead = ({ containers, dockerIsDown, health, onEdit, onRemove, server }: {
  readonly server: StoredServer
  readonly health: ObservedServer | undefined
  readonly containers: UseQueryResult<{ readonly containers: ReadonlyArray<Container> }, Error>
  readonly dockerIsDown: boolean
  readonly onEdit: () => void
  readonly onRemove: () => void
}) => {
  const queries = useQueryClient()
  const answers = containers.error === null
  return (
    <Head
      title={server.name}
      under={underServers}
      state={containers.data === undefined && answers
        ? <Badge>connecting …</Badge>
        : (
          <>
            <Badge tone={answers ? "good" : "bad"}>
              {answers ? "answers" : dockerIsDown ? "Docker cannot be used" : "cannot be used"}
            </Badge>
            <Age at={answers ? containers.dataUpdatedAt : containers.errorUpdatedAt} before="seen " />
          </>
        )}
      facts={[
        ["Address", <code>{server.username}@{server.host}:{server.port}</code>],
        ...server.jump === undefined ? [] : [["Through", <code>{server.jump}</code>] as const],
        ["Docker", server.useSudo ? "with sudo" : "without sudo"],
        ...health?.latencyMs === null || health === undefined
          ? []
          : [["Answers in", `${Math.round(health.latencyMs)} ms`] as const],
        ...health === undefined || health.disks.length === 0
          ? []
          : [["Disk", <Disks disks={health.disks} server={server.name} />] as const],
        ...containers.data === undefined
          ? []
          : [
            [
              "Runs",
              formatCount(containers.data.containers.filter(({ status }) => isUp(status)).length, "container")
            ] as const
          ]
      ]}
      actions={
        <>
          <Button icon="again" disabled={containers.isFetching} onClick={() => queries.invalidateQueries()}>
            Look again
          </Button>
          <Button changes onClick={onEdit}>Edit</Button>
          <Button icon="bin" changes onClick={onRemove}>Remove</Button>
        </>
      }
    />
  )
}

const Stacks = lazyComponent("The list of compose projects", () => import("./Stacks.tsx").then((part) => part.Stacks))
const EditServer = lazyComponent("The form", () => import("./form/ServerForm.tsx").then((part) => part.EditServer))

/** Container whose log is shown, kept in the address. */
const useShownContainer = () => {
  const [params, setParams] = useSearchParams()
  const show = (container: string | undefined) =>
    setParams((before) => {
      const after = new URLSearchParams(before)
      // The linked line belongs to the log of the previous container.
      after.delete("at")
      if (container === undefined) after.delete("container")
      else after.set("container", container)
      return after
    }, { replace: true })
  return [params.get("container") ?? undefined, show] as const
}

const ServerParts = ({ server }: { readonly server: StoredServer }) => {
  const { id, name } = server
  const containers = useAllContainers(id)
  const health = useOverview().data?.servers.find((each) => each.id === id)
  const [shown, show] = useShownContainer()
  const [dialog, setDialog] = useState<"edit" | "remove">()
  const close = () => setDialog(undefined)
  // Tells an unreachable server from an unavailable Docker.
  const dockerIsDown = containers.error !== null && health?.answers === true
  return (
    <div className="page">
      <ServerHead
        server={server}
        health={health}
        containers={containers}
        dockerIsDown={dockerIsDown}
        onEdit={() => setDialog("edit")}
        onRemove={() => setDialog("remove")}
      />
      {containers.error === null ? <ServerUsage serverId={id} name={name} /> : (
        <ServerUnavailable
          name={name}
          error={containers.error}
          again={containers.refetch}
          onEdit={() => setDialog("edit")}
          dockerIsDown={dockerIsDown}
        />
      )}
      <Containers serverId={id} containers={containers} onRead={show} reading={shown} />
      {shown === undefined ? null : <Logs key={shown} name={shown} serverId={id} target={{ containerName: shown }} />}
      <Deployed serverId={id} />
      <Stacks serverId={id} />
      {dialog === "edit" ? <EditServer server={server} onClose={close} /> : null}
      {dialog === "remove" ? <RemoveServer server={server} onClose={close} /> : null}
    </div>
  )
}

/** Screen of a server: reachability, containers with their usage, and deployed stacks. */
export const Server = ({ id }: { readonly id: string }) => {
  const servers = useServers()
  const server = servers.data?.find((each) => each.id === id)
  if (server !== undefined) return <ServerParts server={server} />
  return (
    <div className="page">
      <Head title="Server" under={underServers} />
      <Panel title="Stored servers">
        <Loading query={servers} what="the server" />
        {servers.data === undefined ? null : <Empty title="No server of this id is stored" icon="servers" />}
      </Panel>
    </div>
  )
}
