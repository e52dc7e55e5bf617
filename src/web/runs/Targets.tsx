import { Option, Schema } from "effect"
import { Link } from "wouter"
import type { Run } from "../../schema/runs/Run.ts"
import { listBegunDeploys } from "../../schema/targets/listBegunDeploys.ts"
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

/** Targets of a deploy to several servers, with links to their runs; renders nothing for other runs. */
export const Targets = ({ run }: { readonly run: Run }) => {
  if (run.kind !== "deploy-all") return null
  const rows = Option.match(decodeResult(run.result), {
    onNone: () => listBegunDeploys(run).map((deploy): Row => ({ ...deploy, words: "begun", tone: "quiet" })),
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
