import type { UseQueryResult } from "@tanstack/react-query"
import { differencesIn, type Drift, type DriftDiff, type DriftPart } from "../../schema/applications/Drift.ts"
import { formatCount, formatValue } from "../format/format.ts"
import { Age } from "../ui/Age.tsx"
import { Badge } from "../ui/Badge.tsx"
import { Empty, Loading, Warnings } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { Scroll } from "../ui/Scroll.tsx"

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
