import { useState } from "react"
import { RunKind, RunState } from "../../schema/Run.ts"
import { UnderWay } from "../overview/UnderWay.tsx"
import { Button } from "../ui/Button.tsx"
import { Head } from "../ui/Head.tsx"
import { Empty, Failure, Waiting } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { counted } from "../ui/words.ts"
import { RunTable } from "./RunTable.tsx"
import { type RunFilter, useHistory } from "./useRuns.ts"

const Choice = <A extends string>({ all, choices, label, onChoose, value }: {
  readonly label: string
  readonly all: string
  readonly choices: ReadonlyArray<A>
  readonly value: A | undefined
  readonly onChoose: (value: A | undefined) => void
}) => (
  <select
    className="select"
    aria-label={label}
    value={value ?? ""}
    onChange={(event) => onChoose(choices.find((choice) => choice === event.target.value))}
  >
    <option value="">{all}</option>
    {choices.map((choice) => <option key={choice} value={choice}>{choice}</option>)}
  </select>
)

/** What runs now, and what has run. */
export const Activity = () => {
  const [filter, setFilter] = useState<RunFilter>({ kind: undefined, state: undefined })
  const { data, error, fetchNextPage, hasNextPage, isFetchingNextPage, refetch } = useHistory(filter)
  const runs = data?.pages.flatMap((page) => page.runs) ?? []
  return (
    <div className="page">
      <Head title="Activity">
        <p className="quiet">
          Every deploy, rollback, build, pull and upsert: those under way, and how the others went.
        </p>
      </Head>
      <UnderWay />
      <Panel
        title="History"
        note={data === undefined ? undefined : `${counted(runs.length, "run")}${hasNextPage ? " shown" : ""}`}
        aside={
          <>
            <Choice
              label="Kind"
              all="all kinds"
              choices={RunKind.literals}
              value={filter.kind}
              onChoose={(kind) => setFilter({ ...filter, kind })}
            />
            <Choice
              label="State"
              all="all states"
              choices={RunState.literals}
              value={filter.state}
              onChoose={(state) => setFilter({ ...filter, state })}
            />
          </>
        }
      >
        {error === null ? null : <Failure error={error} again={refetch} />}
        {data === undefined ? (error === null ? <Waiting what="the history" /> : null) : runs.length === 0
          ? (
            <Empty title="Nothing here" icon="activity">
              {filter.kind === undefined && filter.state === undefined
                ? "What is deployed, built or upserted is kept here for 90 days."
                : "No run fits this filter."}
            </Empty>
          )
          : <RunTable runs={runs} />}
        {hasNextPage
          ? (
            <footer>
              <Button disabled={isFetchingNextPage} onClick={() => fetchNextPage()}>
                {isFetchingNextPage ? "Loading …" : "Older runs"}
              </Button>
            </footer>
          )
          : null}
      </Panel>
    </div>
  )
}
