import { useState } from "react"
import { useSearchParams } from "wouter"
import type { Server as StoredServer } from "../../schema/servers/Server.ts"
import { Logs } from "../logs/Logs.tsx"
import { useAllContainers, useOverview, useServers } from "../service/queries.ts"
import { Head } from "../ui/Head.tsx"
import { lazyComponent } from "../ui/lazyComponent.tsx"
import { Empty, Loading } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { ServerUsage } from "../usage/lazyUsage.tsx"
import { Containers } from "./Containers.tsx"
import { Deployed } from "./Deployed.tsx"
import { RemoveServer } from "./RemoveServer.tsx"
import { ServerHead, underServers } from "./ServerHead.tsx"
import { ServerUnavailable } from "./ServerUnavailable.tsx"

const EditServer = lazyComponent("The form", () => import("./form/EditServer.tsx").then((part) => part.EditServer))

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
