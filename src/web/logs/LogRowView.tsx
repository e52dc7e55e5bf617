import { type ReactNode, useState } from "react"
import { Link } from "wouter"
import { formatClock, formatDay, formatMoment } from "../format/localTime.ts"
import type { LogRow, MarkRow } from "./logRows.ts"
import type { ShownLine } from "./shownLine.ts"
import { unfoldJson } from "./unfoldJson.ts"

/** Marks each occurrence of the searched text. */
const marked = (text: string, wanted: string): ReactNode => {
  if (wanted === "") return text
  const lower = text.toLowerCase()
  // Lower case changes the length of a few letters, so that its positions do not match the text.
  if (lower.length !== text.length) return text
  const parts: Array<ReactNode> = []
  let from = 0
  for (let at = lower.indexOf(wanted); at !== -1; at = lower.indexOf(wanted, from)) {
    parts.push(text.slice(from, at), <mark key={at}>{text.slice(at, at + wanted.length)}</mark>)
    from = at + wanted.length
  }
  return [...parts, text.slice(from)]
}

const runWords = ({ kind, requestedBy, state, subject }: MarkRow["run"]) =>
  `${kind === "stack" ? subject.action ?? "change" : kind} by ${requestedBy.name}: ${state}`

/** Display of a line. */
export interface LineDisplay {
  readonly wanted: string
  readonly withSource: boolean
  readonly unfold: boolean
  /** True for the line that a search or a link leads to. */
  readonly current: (line: ShownLine) => boolean
  readonly onLink: (line: ShownLine) => void
}

const Line = ({ line, look }: { readonly line: ShownLine; readonly look: LineDisplay }) => {
  // Overrides the common state until all lines are folded or unfolded again.
  const [own, setOwn] = useState({ of: look.unfold, open: look.unfold })
  const json = unfoldJson(line.text)
  const open = json !== undefined && (own.of === look.unfold ? own.open : look.unfold)
  const isTimed = !Number.isNaN(line.ms)
  return (
    <div className={`log-line ${line.level}${look.current(line) ? " current" : ""}`}>
      {isTimed
        ? (
          <button
            type="button"
            className="log-time"
            title={`${formatMoment(line.ms)}: copy a link to this line`}
            onClick={() => look.onLink(line)}
          >
            <time dateTime={line.time}>{formatClock(line.ms)}</time>
          </button>
        )
        : <span className="log-time" />}
      {look.withSource && line.source !== "" ? <span className="service">{line.source}</span> : null}
      <span className="log-text">
        {json === undefined ? null : (
          <button
            type="button"
            className="log-fold"
            aria-expanded={open}
            aria-label={open ? "Fold the JSON" : "Unfold the JSON"}
            onClick={() => setOwn({ of: look.unfold, open: !open })}
          >
            {open ? "▾" : "▸"}
          </button>
        )}
        {open ? <span className="log-json">{marked(json, look.wanted)}</span> : marked(line.text, look.wanted)}
      </span>
    </div>
  )
}

/** Row of a log: a line, the start of a day, or a run. */
export const LogRowView = ({ look, row }: { readonly row: LogRow; readonly look: LineDisplay }) => {
  if (row.kind === "line") return <Line line={row} look={look} />
  if (row.kind === "day") return <div className="log-rule">{formatDay(row.ms)}</div>
  return (
    <div className={`log-rule mark ${row.run.state}`}>
      <time dateTime={new Date(row.ms).toISOString()} title={formatMoment(row.ms)}>{formatClock(row.ms)}</time>
      <Link href={`/activity/${encodeURIComponent(row.run.id)}`}>{runWords(row.run)}</Link>
    </div>
  )
}
