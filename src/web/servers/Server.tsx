import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { useLocation, useSearchParams } from "wouter"
import { Logs } from "../logs/Logs.tsx"
import { call } from "../service/berth.ts"
import { useAllContainers, useOverview, useServers } from "../service/queries.ts"
import { Confirm } from "../ui/Confirm.tsx"
import { Head } from "../ui/Head.tsx"
import { later } from "../ui/later.tsx"
import { Empty, Failure, Waiting } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { ServerUsage } from "../usage/laterUsage.tsx"
import { Containers } from "./Containers.tsx"
import { Deployed } from "./Deployed.tsx"
import { ServerHead, underServers } from "./ServerHead.tsx"
import { ServerUnavailable } from "./ServerUnavailable.tsx"

const EditServer = later("The form", () => import("./form/EditServer.tsx").then((part) => part.EditServer))

/** Screen of a server: reachability, containers with their usage, and deployed stacks. */
export const Server = ({ id }: { readonly id: string }) => {
  const { data: servers, error, refetch } = useServers()
  const server = servers?.find((each) => each.id === id)
  const containers = useAllContainers(server === undefined ? null : id)
  const health = useOverview().data?.servers.find((each) => each.id === id)
  const [params, setParams] = useSearchParams()
  const read = params.get("container") ?? undefined
  const setRead = (container: string | undefined) =>
    setParams((before) => {
      const after = new URLSearchParams(before)
      // A line that a link led to is one of the container before.
      after.delete("at")
      if (container === undefined) after.delete("container")
      else after.set("container", container)
      return after
    }, { replace: true })
  const [asking, setAsking] = useState(false)
  const [editing, setEditing] = useState(false)
  const [, go] = useLocation()
  const queries = useQueryClient()
  const removal = useMutation({
    mutationFn: () => call((berth) => berth.removeServer({ path: { id } })),
    onSuccess: async () => {
      go("/servers")
      await queries.invalidateQueries()
    }
  })
  if (server === undefined) {
    return (
      <div className="page">
        <Head title="Server" under={underServers} />
        <Panel title="Stored servers">
          {error !== null
            ? <Failure error={error} again={refetch} />
            : servers === undefined
            ? <Waiting what="the server" />
            : <Empty title="No server of this id is stored" icon="servers" />}
        </Panel>
      </div>
    )
  }
  // Tells an unreachable server from an unavailable Docker.
  const dockerIsDown = containers.error !== null && health?.answers === true
  return (
    <div className="page">
      <ServerHead
        server={server}
        health={health}
        containers={containers}
        dockerIsDown={dockerIsDown}
        onEdit={() => setEditing(true)}
        onRemove={() => setAsking(true)}
      />
      {containers.error === null
        ? null
        : (
          <ServerUnavailable
            name={server.name}
            error={containers.error}
            again={containers.refetch}
            onEdit={() => setEditing(true)}
            dockerIsDown={dockerIsDown}
          />
        )}
      {removal.error === null ? null : (
        <Panel title="Not removed">
          <Failure error={removal.error} />
        </Panel>
      )}
      {containers.error === null ? <ServerUsage serverId={id} name={server.name} /> : null}
      <Containers serverId={id} containers={containers} onRead={setRead} reading={read} />
      {read === undefined ? null : <Logs key={read} name={read} serverId={id} target={{ containerName: read }} />}
      <Deployed serverId={id} />
      {editing
        ? <EditServer server={server} onClose={() => setEditing(false)} />
        : null}
      {asking
        ? (
          <Confirm
            title={`Remove ${server.name}?`}
            action="Remove it from the settings"
            danger
            onClose={() => setAsking(false)}
            onConfirm={() => {
              setAsking(false)
              removal.mutate()
            }}
          >
            <p>Berth forgets how to log in to it. Nothing on the server changes, and what runs there goes on.</p>
          </Confirm>
        )
        : null}
    </div>
  )
}
