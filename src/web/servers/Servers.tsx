import { useState } from "react"
import { Link } from "wouter"
import { formatCount, useOverview, useServers } from "../service.ts"
import { Age, Badge, Button, Empty, Head, lazyComponent, Loading, Panel } from "../ui/components.tsx"
import { Disks } from "./Disks.tsx"

const AddServer = lazyComponent("The form", () => import("./form/ServerForm.tsx").then((part) => part.AddServer))

/** Stored servers with their reachability and stacks. */
export const Servers = () => {
  const { data, error, refetch } = useServers()
  const overview = useOverview().data
  const [adding, setAdding] = useState(false)
  return (
    <div className="page">
      <Head
        title="Servers"
        actions={<Button icon="plus" changes look="main-action" onClick={() => setAdding(true)}>Add a server</Button>}
      >
        <p className="quiet">Machines that Berth reaches over SSH.</p>
      </Head>
      <Panel title="All servers" note={data === undefined ? undefined : formatCount(data.length, "server")}>
        <Loading query={{ data, error, refetch }} what="the servers" />
        {data?.length === 0
          ? (
            <Empty title="No server yet" icon="servers">
              Add one: it needs an SSH log-in and Docker, and nothing is installed on it.
            </Empty>
          )
          : null}
        <ul className="rows">
          {data?.map(({ host, id, jump, name, port, useSudo, username }) => {
            const seen = overview?.servers.find((each) => each.id === id)
            const stacks = overview?.projects.filter(({ servers }) =>
              servers.some(({ serverId, state }) => serverId === id && state !== null && state !== "absent")
            ).length ?? 0
            return (
              <li key={id}>
                <Link className="strong" href={`/servers/${encodeURIComponent(id)}`}>{name}</Link>
                {seen === undefined
                  ? <span className="quiet">…</span>
                  : seen.answers && seen.error === undefined
                  ? <Badge tone="good">answers in {Math.round(seen.latencyMs ?? 0)} ms</Badge>
                  : <Badge tone="bad">{seen.answers ? "Docker cannot be used" : "does not answer"}</Badge>}
                <span className="grow quiet">
                  <code>{username}@{host}:{port}</code>
                  {jump === undefined ? "" : ` through ${jump}`}
                  {useSudo ? " with sudo" : ""} · {formatCount(stacks, "project")}
                  {seen?.error === undefined ? null : (
                    <>
                      . <span className="bad">{seen.error}</span>
                    </>
                  )}
                </span>
                {seen === undefined ? null : <Disks disks={seen.disks} server={name} />}
                {seen === undefined ? null : <Age at={seen.observedAt} before="seen " />}
              </li>
            )
          })}
        </ul>
      </Panel>
      {adding
        ? (
          <AddServer onClose={() => setAdding(false)} />
        )
        : null}
    </div>
  )
}
