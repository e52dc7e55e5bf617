import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { useLocation } from "wouter"
import { Logs } from "../logs/Logs.tsx"
import { useOverview } from "../overview/useOverview.ts"
import { call } from "../service/berth.ts"
import { useContainers, useServers } from "../service/queries.ts"
import { Age } from "../ui/Age.tsx"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { Confirm } from "../ui/Confirm.tsx"
import { Head } from "../ui/Head.tsx"
import { Empty, Failure, Waiting } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { counted } from "../ui/words.ts"
import { Containers } from "./Containers.tsx"
import { Deployed } from "./Deployed.tsx"
import { Disks } from "./Disks.tsx"

/** A server: whether it answers, what runs on it with what it uses, and what is deployed there. */
export const Server = ({ id }: { readonly id: string }) => {
  const { data: servers, error, refetch } = useServers()
  const server = servers?.find((each) => each.id === id)
  const containers = useContainers(server === undefined ? null : id)
  const health = useOverview().data?.servers.find((each) => each.id === id)
  const [read, setRead] = useState<string>()
  const [asking, setAsking] = useState(false)
  const [, go] = useLocation()
  const queries = useQueryClient()
  const removal = useMutation({
    mutationFn: () => call((berth) => berth.removeServer({ path: { id } })),
    onSuccess: async () => {
      go("/servers")
      await queries.invalidateQueries()
    }
  })
  const under = { name: "Servers", href: "/servers" }
  if (server === undefined) {
    return (
      <div className="page">
        <Head title="Server" under={under} />
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
  const answers = containers.error === null
  // Whether the server itself is there, where its Docker is not.
  const dockerIsDown = !answers && health?.answers === true
  return (
    <div className="page">
      <Head
        title={server.name}
        under={under}
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
          ["Docker", server.useSudo ? "with sudo" : "without sudo"],
          ...health?.latencyMs === null || health === undefined
            ? []
            : [["Answers in", `${Math.round(health.latencyMs)} ms`] as const],
          ...health === undefined || health.disks.length === 0
            ? []
            : [["Disk", <Disks disks={health.disks} server={server.name} />] as const],
          ...containers.data === undefined
            ? []
            : [["Runs", counted(containers.data.containers.length, "container")] as const]
        ]}
        actions={
          <>
            <Button icon="again" disabled={containers.isFetching} onClick={() => queries.invalidateQueries()}>
              Look again
            </Button>
            <Button icon="bin" onClick={() => setAsking(true)}>Remove</Button>
          </>
        }
      />
      {containers.error === null
        ? null
        : (
          <Panel title={dockerIsDown ? "Docker cannot be used" : "It cannot be used now"}>
            <Failure error={containers.error} again={containers.refetch} />
            {dockerIsDown
              ? (
                <p className="body">
                  {server.name} itself answers, so the log-in is right. On the server, look at{" "}
                  <code>systemctl status docker</code>. Stacks cannot be deployed, stopped or started until Docker
                  answers again, and what is below is what lies on its disk.
                </p>
              )
              : (
                <p className="body quiet">
                  Nothing is known of what runs there until it answers. Releases and files stay as they are.
                </p>
              )}
          </Panel>
        )}
      {removal.error === null ? null : (
        <Panel title="Not removed">
          <Failure error={removal.error} />
        </Panel>
      )}
      <Containers serverId={id} containers={containers} onRead={setRead} reading={read} />
      {read === undefined ? null : <Logs key={read} name={read} serverId={id} target={{ containerName: read }} />}
      <Deployed serverId={id} />
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
