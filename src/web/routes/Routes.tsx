import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { formatCount } from "../format/format.ts"
import { useCall } from "../service/queries.ts"
import { Age } from "../ui/Age.tsx"
import { Button } from "../ui/Button.tsx"
import { Head } from "../ui/Head.tsx"
import { Empty, Loading, Warnings } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { AddRoute } from "./AddRoute.tsx"
import { AllRoutes } from "./AllRoutes.tsx"
import { Unrouted } from "./Unrouted.tsx"

const kinds = {
  variable: "HOST_PORT of an application",
  route: "address in the proxy file",
  socket: "listens on the proxy's server",
  container: "published by a container",
  project: "in a project's .env"
} as const

/** Routes from domains to applications, and ports in use. */
export const Routes = () => {
  const { data, dataUpdatedAt, error, isFetching, refetch } = useCall(
    ["ports"],
    (berth) => berth.nextPort({ urlParams: { evidence: "true" } }),
    { staleTime: 60_000 }
  )
  const [adding, setAdding] = useState(false)
  const queries = useQueryClient()
  return (
    <div className="page">
      <Head
        title="Routes"
        actions={
          <>
            <Button icon="again" disabled={isFetching} onClick={() => queries.invalidateQueries()}>Look again</Button>
            <Button icon="plus" changes look="main-action" onClick={() => setAdding(true)}>Add a route</Button>
          </>
        }
      >
        <p className="quiet">The domains that the reverse proxy serves, and the ports that they lead to.</p>
      </Head>
      <AllRoutes />
      <Unrouted />
      <Panel
        title="Ports in use"
        note={data === undefined
          ? undefined
          : `${formatCount(data.evidence?.length ?? 0, "port")}, the next free one is ${data.nextPort}`}
        aside={isFetching ? <span>looking …</span> : <Age at={dataUpdatedAt} before="seen " />}
      >
        <Loading query={{ data, error, refetch }} what="the ports" />
        <Warnings texts={data?.warnings ?? []} />
        {data?.evidence?.length === 0 ? <Empty title="No port is in use" icon="routes" /> : null}
        <ul className="rows ports">
          {data?.evidence?.map(({ port, usedBy }) => (
            <li key={port}>
              <code className="strong">{port}</code>
              <span className="grow chips">
                {usedBy.map(({ kind, what }) => (
                  <span className="chip" key={`${kind} ${what}`}>
                    <span>{what}</span>
                    <span className="quiet">{kinds[kind]}</span>
                  </span>
                ))}
              </span>
            </li>
          ))}
        </ul>
      </Panel>
      {adding ? <AddRoute nextPort={data?.nextPort} onClose={() => setAdding(false)} /> : null}
    </div>
  )
}
