import { Link, useSearchParams } from "wouter"
import { findFinalMessage, type Run, RunKind, RunState } from "../../schema/runs.ts"
import { formatCount, type RunFilter, useHistory, useProjects } from "../service.ts"
import { Age, Badge, Button, Empty, Head, Loading, Panel } from "../ui/components.tsx"
import { describeRun, describeRunOutcome, Duration } from "./RunPanel.tsx"
import { UnderWay } from "./RunStrip.tsx"

const RunTable = ({ runs }: { readonly runs: ReadonlyArray<Run> }) => (
  <ul className="rows runs">
    {runs.map((run) => {
      const { tone, word } = describeRunOutcome(run)
      return (
        <li key={run.id}>
          <span>
            <Badge tone={tone}>{word}</Badge>
          </span>
          <Link className="strong row-link" href={`/activity/${run.id}`}>{describeRun(run)}</Link>
          <span className="quiet one-line">{findFinalMessage(run) ?? run.steps.at(-1)?.detail ?? ""}</span>
          <span className="quiet">{run.requestedBy.name} · {run.requestedBy.door}</span>
          <span className="quiet end">
            <Duration run={run} />
          </span>
          <span className="end">
            <Age at={run.requestedAt} />
          </span>
        </li>
      )
    })}
  </ul>
)

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

/** Filter of the history, stored in the address, so that links and the back button restore it. */
const useFilter = () => {
  const [params, setParams] = useSearchParams()
  const { data, isFetched } = useProjects()
  const projects = data ?? []
  const project = params.get("project") ?? undefined
  const filter: RunFilter = {
    kind: RunKind.literals.find((kind) => kind === params.get("kind")),
    state: RunState.literals.find((state) => state === params.get("state")),
    // An unknown project name matches no runs.
    projectPath: project === undefined ? undefined : projects.find(({ name }) => name === project)?.path ?? project
  }
  const setFilter = (name: "kind" | "project" | "state", value: string | undefined) =>
    setParams((before) => {
      const after = new URLSearchParams(before)
      if (value === undefined) after.delete(name)
      else after.set(name, value)
      return after
    })
  // The history is queried by project directory, which needs the list of projects.
  const isKnown = project === undefined || isFetched
  return { filter, isKnown, project, projects: projects.map(({ name }) => name), setFilter }
}

/** Running and past runs. */
export const Activity = () => {
  const { filter, isKnown, project, projects, setFilter } = useFilter()
  const { data, error, fetchNextPage, hasNextPage, isFetchingNextPage, refetch } = useHistory(filter, isKnown)
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
        note={data === undefined ? undefined : `${formatCount(runs.length, "run")}${hasNextPage ? " shown" : ""}`}
        aside={
          <>
            <Choice
              label="Project"
              all="all projects"
              choices={project === undefined || projects.includes(project) ? projects : [...projects, project]}
              value={project}
              onChoose={(name) => setFilter("project", name)}
            />
            <Choice
              label="Kind"
              all="all kinds"
              choices={RunKind.literals}
              value={filter.kind}
              onChoose={(kind) => setFilter("kind", kind)}
            />
            <Choice
              label="State"
              all="all states"
              choices={RunState.literals}
              value={filter.state}
              onChoose={(state) => setFilter("state", state)}
            />
          </>
        }
      >
        <Loading query={{ data, error, refetch }} what="the history" />
        {data === undefined ? null : runs.length === 0
          ? (
            <Empty title="Nothing here" icon="activity">
              {Object.values(filter).every((value) => value === undefined)
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
