import { Option, Schema } from "effect"
import { Link } from "wouter"
import type { Run } from "../../schema/runs/Run.ts"
import { outcomeWords } from "../../schema/targets/outcomeWords.ts"
import { DeployedTarget } from "../../schema/targets/Targets.ts"
import { Panel } from "../ui/Panel.tsx"

interface Row {
  readonly label: string
  readonly id: string | null
  readonly words: string
  readonly tone: string
}

const decodeResult = Schema.decodeUnknownOption(Schema.Struct({ targets: Schema.Array(DeployedTarget) }))

const ended = ({ outcome, remotePath, runId, server }: DeployedTarget): Row => ({
  label: `${server} · ${remotePath}`,
  id: runId,
  words: outcomeWords[outcome],
  tone: outcome === "deployed" ? "good" : outcome === "notTried" ? "quiet" : "bad"
})

/** Deploys that have begun, by the labels of their steps. */
const begun = ({ steps }: Run): ReadonlyArray<Row> => {
  const labels = new Map(
    steps.flatMap(({ run, step }) => run === undefined ? [] : [[run, step.slice(0, step.lastIndexOf(": "))]])
  )
  return [...labels].map(([id, label = ""]) => ({ id, label, words: "begun", tone: "quiet" }))
}

/** Targets of a deploy to several servers, with links to their runs; nothing for any other run. */
export const Targets = ({ run }: { readonly run: Run }) => {
  if (run.kind !== "deploy-all") return null
  const rows = Option.match(decodeResult(run.result), {
    onNone: () => begun(run),
    onSome: ({ targets }) => targets.map(ended)
  })
  return rows.length === 0 ? null : (
    <Panel title="Targets" note="each deploy is a run of its own">
      <ul className="body what">
        {rows.map(({ id, label, tone, words }) => (
          <li key={label}>
            {id === null ? <span>{label}</span> : <Link className="link" href={`/activity/${id}`}>{label}</Link>}
            <span className={tone}>{words}</span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
