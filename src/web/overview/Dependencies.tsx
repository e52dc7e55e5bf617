import type { UseQueryResult } from "@tanstack/react-query"
import { type Health, standingOf } from "../../schema/Health.ts"
import { Age } from "../ui/Age.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Failure, Waiting } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"

const shown = {
  well: { tone: "", icon: "check", words: "is well" },
  unused: { tone: "idle", icon: "minus", words: "is not set up" },
  failed: { tone: "bad", icon: "cross", words: "is not well" }
} as const

/** What Berth depends on: a line each, and what to do where one is not well. */
export const Dependencies = ({ health: { data, dataUpdatedAt, error, refetch } }: {
  readonly health: UseQueryResult<Health, Error>
}) => (
  <Panel title="What Berth depends on" aside={<Age at={dataUpdatedAt} before="seen " />}>
    {error === null ? null : <Failure error={error} again={refetch} />}
    {data === undefined && error === null ? <Waiting what="what Berth depends on" /> : null}
    <ul className="rows">
      {data?.dependencies?.map((finding) => {
        const { detail, fix, latencyMs, name } = finding
        const { icon, tone, words } = shown[standingOf(finding)]
        return (
          <li key={name}>
            <span className={`tick ${tone}`}>
              <Icon name={icon} />
            </span>
            <span className="grow">
              <span className="strong">{name}</span> <span className="quiet">{detail}</span>
              {fix === undefined ? null : <span>{" "}{fix}</span>}
              <span className="unseen">{words}</span>
            </span>
            {latencyMs === undefined ? null : <span className="quiet numbers">{Math.round(latencyMs)} ms</span>}
          </li>
        )
      })}
    </ul>
  </Panel>
)
