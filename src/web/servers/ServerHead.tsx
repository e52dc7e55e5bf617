import { useQueryClient, type UseQueryResult } from "@tanstack/react-query"
import type { ObservedServer } from "../../schema/Overview.ts"
import type { Container } from "../../schema/servers/Container.ts"
import { isUp } from "../../schema/servers/containerStatus.ts"
import type { Server } from "../../schema/servers/Server.ts"
import { formatCount } from "../format/format.ts"
import { Age } from "../ui/Age.tsx"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { Head } from "../ui/Head.tsx"
import { Disks } from "./Disks.tsx"

export const underServers = { name: "Servers", href: "/servers" }

/** Header of a server's screen: reachability, address, usage and actions. */
export const ServerHead = ({ containers, dockerIsDown, health, onEdit, onRemove, server }: {
  readonly server: Server
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
