import { useNarrow } from "../browser/useNarrow.ts"
import { formatCount } from "../format/format.ts"
import { Button } from "../ui/Button.tsx"
import { Search } from "../ui/Search.tsx"
import type { useLogAddress } from "./useLogAddress.ts"

const levelChoices = [["", "all levels"], ["info", "info and up"], ["warn", "warnings and errors"], ["error", "errors"]]
const sinceChoices = [
  ["", "latest lines"],
  ["10m", "last 10 minutes"],
  ["1h", "last hour"],
  ["6h", "last 6 hours"],
  ["1d", "last day"],
  ["7d", "last 7 days"]
]

const Select = ({ choices, label, onChange, value }: {
  readonly label: string
  readonly value: string
  readonly choices: ReadonlyArray<ReadonlyArray<string>>
  readonly onChange: (value: string) => void
}) => (
  <select className="select" aria-label={label} value={value} onChange={(event) => onChange(event.target.value)}>
    {choices.map(([choice, words]) => <option key={choice} value={choice}>{words}</option>)}
    {choices.some(([choice]) => choice === value) ? null : <option value={value}>{value}</option>}
  </select>
)

const Toggle = ({ children, name, on, onChange }: {
  readonly children: string
  readonly name: string
  readonly on: boolean
  readonly onChange: (on: boolean) => void
}) => (
  <button
    type="button"
    className={`button small${on ? " on" : ""}`}
    aria-pressed={on}
    title={name}
    onClick={() => onChange(!on)}
  >
    {children}
  </button>
)

/** Controls of a log: filters, and steps between hits. */
export const LogToolbar = ({ address: { address, change, setText }, hit, onDownload, onStep, sources }: {
  readonly address: ReturnType<typeof useLogAddress>
  readonly sources: ReadonlyArray<string>
  /** Position and number of hits; undefined without a searched text. */
  readonly hit: { readonly position: number; readonly count: number } | undefined
  readonly onStep: (by: 1 | -1) => void
  readonly onDownload: () => void
}) => {
  const narrow = useNarrow()
  return (
    <div className="log-bar" role="toolbar" aria-label="Choice of log lines">
      <div onKeyDown={(event) => event.key === "Enter" && onStep(event.shiftKey ? -1 : 1)}>
        <Search label="Filter the log" value={address.text} onChange={setText} />
      </div>
      {hit === undefined ? null : (
        <span className="log-hits">
          <span className="numbers" role="status">
            {hit.count === 0
              ? "no hit"
              : `${hit.position === 0 ? "–" : hit.position} of ${formatCount(hit.count, "hit")}`}
          </span>
          <Button look="small" onClick={() => onStep(-1)}>
            Previous <span className="unseen">hit</span>
          </Button>
          <Button look="small" onClick={() => onStep(1)}>
            Next <span className="unseen">hit</span>
          </Button>
          <Toggle
            name="Shows lines without the text too"
            on={address.showAll}
            onChange={(on) => change({ show: on ? "all" : "" })}
          >
            All lines
          </Toggle>
          <Toggle
            name="Searches on the server, further back"
            on={address.whole}
            onChange={(on) => change({ search: on ? "whole" : "" })}
          >
            Whole log
          </Toggle>
        </span>
      )}
      {sources.length < 2 && address.source === "" ? null : (
        <Select
          label="Service"
          value={address.source}
          choices={[["", "all services"], ...sources.map((source) => [source, source])]}
          onChange={(service) => change({ service })}
        />
      )}
      <Select
        label="Level"
        value={address.level ?? ""}
        choices={levelChoices}
        onChange={(level) => change({ level })}
      />
      <Select
        label="Since"
        value={address.since}
        choices={sinceChoices}
        onChange={(since) => change({ since, at: "" })}
      />
      <Toggle
        name="Breaks long lines"
        on={address.wrap}
        onChange={(on) => change({ wrap: on === narrow ? "" : on ? "1" : "0" })}
      >
        Wrap
      </Toggle>
      <Toggle name="Unfolds JSON" on={address.unfold} onChange={(on) => change({ json: on ? "1" : "" })}>JSON</Toggle>
      <Button look="small" onClick={onDownload}>Download</Button>
    </div>
  )
}
