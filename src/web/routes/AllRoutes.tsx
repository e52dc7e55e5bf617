import { useState } from "react"
import type { ListedRoute } from "../../schema/routes/RouteList.ts"
import { formatCount } from "../format/format.ts"
import { useCall } from "../service/queries.ts"
import { Age } from "../ui/Age.tsx"
import { Button } from "../ui/Button.tsx"
import { Empty, Loading, Warnings } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { Search } from "../ui/Search.tsx"
import { RemoveRoute } from "./RemoveRoute.tsx"
import { RouteRow } from "./RouteRow.tsx"

// Bound of verified routes: each verification queries the platform, the proxy's server and the domain.
const mostFollowed = 40
const first = 100

const textOf = ({ applications, domains, routeName, rule, targets }: ListedRoute) =>
  [routeName, rule, ...domains, ...targets, ...applications.map(({ appName }) => appName)].join(" ").toLowerCase()

export const AllRoutes = () => {
  const { data, error, isFetching, refetch } = useCall(["routes"], (berth) => berth.listRoutes(), {
    every: 60_000,
    staleTime: 30_000
  })
  const [filter, setFilter] = useState("")
  const [removing, setRemoving] = useState<ListedRoute>()
  const [most, setMost] = useState(first)
  const found = data?.routes.filter((route) => textOf(route).includes(filter.toLowerCase())) ?? []
  const followed = new Set(data?.routes.filter(({ applications }) => applications.length > 0).slice(0, mostFollowed))
  return (
    <Panel
      title="Routes"
      note={data === undefined ? undefined : (
        <>
          {formatCount(data.routes.length, "route")} in <code>{data.file}</code> on {data.serverName}
        </>
      )}
      aside={
        <>
          {isFetching
            ? <span>reading …</span>
            : data === undefined
            ? null
            : <Age at={data.observedAt} before="read " />}
          {(data?.routes.length ?? 0) > 8
            ? <Search label="Filter the routes" value={filter} onChange={setFilter} />
            : null}
        </>
      }
    >
      <Loading query={{ data, error, refetch }} what="the routes" />
      <Warnings texts={data?.warnings ?? []} />
      {data !== undefined && found.length === 0
        ? (
          <Empty title={filter === "" ? "The proxy file has no route yet" : "None fits"} icon="routes">
            {filter === "" ? "An upsert adds one for each domain that an application declares." : undefined}
          </Empty>
        )
        : null}
      <ul className="rows">
        {found.slice(0, most).map((route) => (
          <RouteRow
            key={route.routeName}
            route={route}
            isFollowed={followed.has(route)}
            onRemove={() => setRemoving(route)}
          />
        ))}
      </ul>
      {found.length > most
        ? (
          <div className="body">
            <Button look="small" onClick={() => setMost(found.length)}>Show all {found.length}</Button>
          </div>
        )
        : null}
      {removing === undefined ? null : (
        <RemoveRoute
          routeName={removing.routeName}
          domains={removing.domains}
          onClose={() => setRemoving(undefined)}
        />
      )}
    </Panel>
  )
}
