import type { UseQueryResult } from "@tanstack/react-query"
import type { Health } from "../../schema/Health.ts"
import { Age } from "../ui/Age.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Failure, Waiting } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"

/** What Berth depends on: a line each, and what to do where one is not well. */
export const Dependencies = ({ health: { data, dataUpdatedAt, error, refetch } }: {
  readonly health: UseQueryResult<Health, Error>
}) => (
  <Panel title="What Berth depends on" aside={<Age at={dataUpdatedAt} before="seen " />}>
    {error === null ? null : <Failure error={error} again={refetch} />}
    {data === undefined && error === null ? <Waiting what="what Berth depends on" /> : null}
    <ul className="rows">
      {data?.dependencies?.map(({ detail, fix, latencyMs, name, ok }) => (
        <li key={name}>
          <span className={ok ? "tick" : "tick bad"}>
            <Icon name={ok ? "check" : "cross"} />
          </span>
          <span className="grow">
            <span className="strong">{name}</span> <span className="quiet">{detail}</span>
            {fix === undefined ? null : <span>{" "}{fix}</span>}
            <span className="unseen">{ok ? "is well" : "is not well"}</span>
          </span>
          {latencyMs === undefined ? null : <span className="quiet numbers">{Math.round(latencyMs)} ms</span>}
        </li>
      ))}
    </ul>
  </Panel>
)
