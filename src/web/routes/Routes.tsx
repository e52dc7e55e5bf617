import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { Link } from "wouter"
import type { LocalProject } from "../../schema/projects.ts"
import type { ListedRoute, RoutedApplication } from "../../schema/routes.ts"
import { useDeclared } from "../applications/Drift.tsx"
import { toBaseName } from "../runs/RunPanel.tsx"
import { formatCount, limitConcurrency, useCall, useOverview, useProjects } from "../service.ts"
import { Age, Badge, Button, Empty, Head, Loading, Panel, Search, Warnings } from "../ui/components.tsx"
import { AddRoute, RemoveRoute } from "./changeRoutes.tsx"

/** Verification that a domain reaches its application, with its time. */
const Proof = ({ application: { appName, projectPath } }: { readonly application: RoutedApplication }) => {
  const observed = useOverview().data?.applications.find((each) =>
    each.name === appName && each.projectPath === projectPath
  )
  // A route may exist before its application, which is not a failure.
  const isNotCreated = observed !== undefined && observed.uuid === null && observed.error === undefined
  const { data, dataUpdatedAt, error } = useCall(
    ["verify", projectPath, appName],
    (berth) => limitConcurrency(berth.verify({ payload: { projectPath, appName } })),
    { enabled: observed !== undefined && !isNotCreated, staleTime: 5 * 60_000 }
  )
  const hop = data?.hops.find(({ hop }) => hop === "route")
  return (
    <span className="proof">
      <Link
        className="link"
        href={`/applications/${encodeURIComponent(toBaseName(projectPath))}/${encodeURIComponent(appName)}`}
      >
        {appName}
      </Link>
      {isNotCreated
        ? <Badge>not created yet</Badge>
        : error !== null
        ? <span className="bad">{error.message}</span>
        : data === undefined
        ? <span className="quiet">…</span>
        : hop === undefined
        ? <Badge>not followed</Badge>
        : <Badge tone={hop.ok ? "good" : "bad"}>{hop.ok ? "leads to it" : "does not lead to it"}</Badge>}
      {hop === undefined || hop.ok ? null : <span className="quiet">{hop.detail}</span>}
      <Age at={dataUpdatedAt} before="followed " />
    </span>
  )
}

/** Row of a route: rule, targets, author, and the verification of each application. */
const RouteRow = ({ isFollowed, onRemove, route }: {
  readonly route: ListedRoute
  readonly isFollowed: boolean
  readonly onRemove: () => void
}) => {
  const { applications, domains, madeBy, missingMiddlewares, routeName, rule, targets } = route
  return (
    <li className="route">
      <span className="way">
        <span className="strong">{domains.length === 0 ? <code>{rule}</code> : domains.join(", ")}</span>
        <span>
          <span className="quiet" aria-hidden="true">→</span> <span className="unseen">leads to</span>
          {targets.length === 0
            ? <Badge tone="warn">no service in this file</Badge>
            : <code>{targets.join(", ")}</code>}
        </span>
      </span>
      <span className="about">
        <span className="quiet">
          <code>{routeName}</code>, {madeBy === "berth" ? "as Berth writes it" : "written by somebody else"}
        </span>
        {missingMiddlewares.length === 0 ? null : (
          <Badge tone="warn">
            lacks {formatCount(missingMiddlewares.length, "middleware")}: {missingMiddlewares.join(", ")}
          </Badge>
        )}
      </span>
      <span className="proofs">
        {applications.length === 0
          ? <span className="quiet">declared by no project here</span>
          : isFollowed
          ? applications.map((application) => (
            <Proof key={`${application.projectPath} ${application.appName}`} application={application} />
          ))
          : <span className="quiet">{applications.map(({ appName }) => appName).join(", ")}</span>}
      </span>
      <Button look="small" changes onClick={onRemove}>
        Remove<span className="unseen">the route {routeName}</span>
      </Button>
    </li>
  )
}

// Bound of verified routes: each verification queries the platform, the proxy's server and the domain.
const mostFollowed = 40
const first = 100

const textOf = ({ applications, domains, routeName, rule, targets }: ListedRoute) =>
  [routeName, rule, ...domains, ...targets, ...applications.map(({ appName }) => appName)].join(" ").toLowerCase()

const AllRoutes = () => {
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

const mostProjects = 40

const OfProject = ({ project, routed }: { readonly project: LocalProject; readonly routed: ReadonlySet<string> }) =>
  useDeclared(project).data?.map(({ domain, name }) =>
    typeof domain !== "string" || routed.has(domain.toLowerCase()) ? null : (
      <li key={name} className="route unrouted">
        <span className="strong">{domain}</span>
        <span className="proofs">
          <Proof application={{ appName: name, projectPath: project.path }} />
        </span>
      </li>
    )
  )

/** Declared domains without a route in the proxy file; the platform may serve them. */
const Unrouted = () => {
  const projects = useProjects().data
  const { data } = useCall(["routes"], (berth) => berth.listRoutes(), { staleTime: 30_000 })
  const declaring = projects?.filter(({ hasPlatformJson }) => hasPlatformJson).slice(0, mostProjects) ?? []
  if (data === undefined || declaring.length === 0) return null
  const routed = new Set(data.routes.flatMap(({ domains }) => domains))
  return (
    <Panel title="Declared domains without a route here" note="the platform may serve them by itself">
      <ul className="rows unless-empty">
        {declaring.map((project) => <OfProject key={project.path} project={project} routed={routed} />)}
      </ul>
      <p className="body quiet none">Every domain that a project declares has a route.</p>
    </Panel>
  )
}

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
