import type { UseQueryResult } from "@tanstack/react-query"
import type { PlanChange, PlatformPlan } from "../../../schema/applications/PlatformPlan.ts"
import { formatCount, formatValue } from "../../format/format.ts"
import { Age } from "../../ui/Age.tsx"
import { Empty, Loading, Warnings } from "../../ui/Notes.tsx"
import { Panel } from "../../ui/Panel.tsx"

/** Row of a planned change. */
export const Change = ({ change: { label, new: after, old: before, target } }: { readonly change: PlanChange }) => (
  <div className="change">
    <span>
      <span className="strong">{label}</span>{" "}
      {label.toLowerCase().includes(target.toLowerCase()) ? null : <span className="quiet">{target}</span>}
    </span>
    <span className="from-to">
      {before === null ? null : (
        <>
          <code className="old">{formatValue(before)}</code>
          <span className="quiet">becomes</span>
        </>
      )}
      <code className="new">{formatValue(after)}</code>
    </span>
  </div>
)

const signs = { change: ["warn", "~"], nothing: ["", "="], skip: ["", "–"] } as const

/** Planned changes on the platform, in the proxy file and on the git host. */
export const UpsertPlan = ({ plan: { data, dataUpdatedAt, error, isFetching, refetch } }: {
  readonly plan: UseQueryResult<PlatformPlan, Error>
}) => {
  const stays = data?.stays ?? []
  return (
    <Panel
      title="Plan"
      note={data === undefined
        ? undefined
        : data.action === "none"
        ? stays.length > 0
          ? `Nothing would change, ${formatCount(stays.length, "difference")} would stay`
          : "Nothing would change"
        : `${formatCount(data.changes.length, "change")}${data.action === "create" ? ", the application is new" : ""}`}
      aside={isFetching ? <span>planning …</span> : <Age at={dataUpdatedAt} before="planned " />}
    >
      <Loading query={{ data, error, refetch }} what="the plan" />
      {data === undefined ? null : (
        <>
          <Warnings texts={[...data.warnings, ...data.unknown]} />
          <Warnings
            texts={stays.map(({ label, live, remedy }) => `${label} stays different (${formatValue(live)}): ${remedy}`)}
          />
          {data.changes.length === 0
            ? stays.length > 0
              ? null
              : <Empty title="The platform has what is declared" icon="check">An upsert would change nothing.</Empty>
            : (
              <div>
                {data.changes.map((change) => <Change key={`${change.target} ${change.field}`} change={change} />)}
              </div>
            )}
          <details className="more">
            <summary>Its {data.steps.length} steps</summary>
            <ul className="rows">
              {data.steps.map(({ detail, step, will }) => (
                <li key={step}>
                  <span className={`sign ${signs[will][0]}`} aria-hidden="true">{signs[will][1]}</span>
                  <span className="strong">{step}</span>
                  <span className="unseen">{will}</span>
                  <span className="grow quiet">{detail}</span>
                </li>
              ))}
            </ul>
          </details>
        </>
      )}
    </Panel>
  )
}
