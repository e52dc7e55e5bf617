import { useQuery, type UseQueryResult } from "@tanstack/react-query"
import type { LocalProject } from "../../schema/projects.ts"
import { differencesIn, type Drift, type DriftDiff, type DriftPart } from "../../schema/upsert.ts"
import { call, formatCount, formatValue, limitConcurrency, ServiceFailure, useCall } from "../service.ts"
import { Age, Badge, Empty, Loading, Panel, Scroll, type Tone, Warnings } from "../ui/components.tsx"

const sides = { here: "changed here", there: "changed on the platform", both: "changed on both" } as const

const Row = ({ diff: { applied, changed, label, local, remote } }: { readonly diff: DriftDiff }) => (
  <tr>
    <td className="strong">{label}</td>
    <td data-label="platform.json">
      <code>{formatValue(local)}</code>
    </td>
    <td data-label="Last applied">
      {applied === undefined ? <span className="quiet">not recorded</span> : <code>{formatValue(applied)}</code>}
    </td>
    <td data-label="Live">
      <code>{formatValue(remote)}</code>
    </td>
    <td>{changed === undefined ? <span className="quiet">–</span> : <Badge tone="warn">{sides[changed]}</Badge>}</td>
  </tr>
)

/** Difference of a route, webhook or other part, with a remedy if upserts do not resolve it. */
const PartRow = ({ part: { label, local, remedy, remote } }: { readonly part: DriftPart }) => (
  <tr>
    <td className="strong">{label}</td>
    <td data-label="platform.json">
      <code>{formatValue(local)}</code>
    </td>
    <td data-label="Last applied">
      <span className="quiet">–</span>
    </td>
    <td data-label="Live">
      <code>{formatValue(remote)}</code>
    </td>
    <td>{remedy === undefined ? <span className="quiet">an upsert ends it</span> : <span>{remedy}</span>}</td>
  </tr>
)

const besideOf = ({ hook = [], others = [], routes = [] }: Drift) => [...routes, ...hook, ...others]

/** Declared, last applied and live values side by side; unreadable fields are listed separately. */
export const DriftPanel = ({ drift: { data, dataUpdatedAt, error, isFetching, refetch } }: {
  readonly drift: UseQueryResult<Drift, Error>
}) => {
  const unknown = data?.unknown ?? []
  return (
    <Panel
      title="Drift"
      note={data === undefined
        ? undefined
        : data.exists
        ? formatCount(differencesIn(data), "difference")
        : "not on the platform"}
      aside={isFetching ? <span>comparing …</span> : <Age at={dataUpdatedAt} before="compared " />}
    >
      <Loading query={{ data, error, refetch }} what="the differences" />
      {data === undefined ? null : (
        <>
          <Warnings texts={data.warnings ?? []} />
          {!data.exists
            ? (
              <Empty title="The platform has no application of this name" icon="applications">
                The plan creates it.
              </Empty>
            )
            : differencesIn(data) === 0
            ? <Empty title="Everything that can be read is as declared" icon="check" />
            : (
              <Scroll label="Table of differences">
                <table className="cards">
                  <thead>
                    <tr>
                      <th>Field</th>
                      <th>platform.json</th>
                      <th>Last applied</th>
                      <th>Live</th>
                      <th>Since</th>
                    </tr>
                  </thead>
                  <tbody>
                    {data.diffs.map((diff) => <Row key={diff.field} diff={diff} />)}
                    {besideOf(data).map((part, index) => <PartRow key={`${part.field} ${index}`} part={part} />)}
                  </tbody>
                </table>
              </Scroll>
            )}
          {unknown.length === 0 ? null : (
            <>
              <h3 className="section-title">Unknown: these could not be read</h3>
              <ul className="rows">
                {unknown.map(({ field, label, reason }) => (
                  <li key={field}>
                    <span className="strong">{label}</span>
                    <span className="grow quiet">{reason}</span>
                  </li>
                ))}
              </ul>
            </>
          )}
        </>
      )}
    </Panel>
  )
}

/** Badge with the drift of an application. */
export const DriftBadge = ({ drift: { data, error } }: {
  readonly drift: { readonly data: Drift | undefined; readonly error: Error | null }
}) => {
  if (data === undefined) {
    return error === null ? <span className="quiet">…</span> : <Badge tone="bad">cannot be compared</Badge>
  }
  if (!data.exists) return <Badge tone="warn">not on the platform</Badge>
  const count = differencesIn(data)
  if (count > 0) return <Badge tone="warn">{formatCount(count, "difference")}</Badge>
  const unknown = data.unknown?.length ?? 0
  return unknown > 0
    ? <Badge tone="good">as declared, {unknown} unknown</Badge>
    : <Badge tone="good">as declared</Badge>
}

/** Fetches the drift of an application. */
export const useDrift = (projectPath: string, appName: string, enabled = true) =>
  useCall(
    ["drift", projectPath, appName],
    (berth) => limitConcurrency(berth.drift({ payload: { projectPath, appName } })),
    { enabled: enabled && projectPath !== "", staleTime: 60_000 }
  )

/** Entry of `platform.json`: its name and unparsed fields. */
export interface DeclaredEntry {
  readonly name: string
  readonly domain: unknown
  readonly entry: { readonly [field: string]: unknown }
}

const declaredOf = async (path: string): Promise<ReadonlyArray<DeclaredEntry>> => {
  const answer = await call((berth) => berth.platformConfig({ urlParams: { path } }))
  if ("error" in answer) throw new ServiceFailure(200, answer.error)
  return answer.flatMap((entry) =>
    typeof entry["name"] === "string" ? [{ name: entry["name"], domain: entry["domain"], entry }] : []
  )
}

/** Fetches the entries of a project's `platform.json`. */
export const useDeclared = (project: LocalProject | undefined) =>
  useQuery({
    queryKey: ["declared", project?.path],
    queryFn: () => declaredOf(project?.path ?? ""),
    enabled: project?.hasPlatformJson === true
  })

/** Link to an application: under its declaring project, else by uuid. */
export const buildApplicationHref = (
  { name, projectPath, uuid }: {
    readonly name: string
    readonly uuid: string | null
    readonly projectPath: string | null
  },
  projects: ReadonlyArray<{ readonly path: string; readonly name: string }>
): string => {
  const project = projects.find(({ path }) => path === projectPath)
  return project === undefined
    ? `/applications/${encodeURIComponent(uuid ?? name)}`
    : `/applications/${encodeURIComponent(project.name)}/${encodeURIComponent(name)}`
}

/** Tone of the platform's application status. */
export const toStatusTone = (status: string): Tone => {
  if (/unhealthy|exited|dead|fail|degraded/i.test(status)) return "bad"
  if (/start|build|queue|restart|progress/i.test(status)) return "busy"
  return /running|healthy/i.test(status) ? "good" : "idle"
}
