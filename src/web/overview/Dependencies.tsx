import type { UseQueryResult } from "@tanstack/react-query"
import { classifyFinding, type Health } from "../../schema/Health.ts"
import { formatCount } from "../format/format.ts"
import { Age } from "../ui/Age.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Loading } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"

const shown = {
  well: { tone: "", icon: "check", words: "is well" },
  unused: { tone: "idle", icon: "minus", words: "is not set up" },
  failed: { tone: "bad", icon: "cross", words: "is not well" }
} as const

type Findings = NonNullable<Health["dependencies"]>

const Lines = ({ findings }: { readonly findings: Findings }) => (
  <ul className="rows">
    {findings.map((finding) => {
      const { detail, fix, latencyMs, name } = finding
      const { icon, tone, words } = shown[classifyFinding(finding)]
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
)

const title = "What Berth depends on"

/** Dependencies of the service, with the fix of each failed one; a single line while all are healthy. */
export const Dependencies = ({ health: { data, dataUpdatedAt, error, refetch } }: {
  readonly health: UseQueryResult<Health, Error>
}) => {
  const findings = data?.dependencies ?? []
  const isWell = error === null && data !== undefined &&
    findings.every((finding) => classifyFinding(finding) !== "failed")
  if (isWell) {
    const well = findings.filter((finding) => classifyFinding(finding) === "well")
    return (
      <section className="panel" aria-label={title}>
        <details className="fold">
          <summary>
            <span className="tick">
              <Icon name="check" />
            </span>
            <span className="grow">
              <span className="strong">{formatCount(well.length, "check")} well</span>{" "}
              <span className="quiet">{well.map(({ name }) => name).join(", ")}</span>
            </span>
            <Age at={dataUpdatedAt} before="seen " />
          </summary>
          <Lines findings={findings} />
        </details>
      </section>
    )
  }
  return (
    <Panel title={title} aside={<Age at={dataUpdatedAt} before="seen " />}>
      <Loading query={{ data, error, refetch }} what="what Berth depends on" />
      <Lines findings={findings} />
    </Panel>
  )
}
