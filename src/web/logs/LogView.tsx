import { useVirtualizer } from "@tanstack/react-virtual"
import { type ReactNode, useCallback, useDeferredValue, useEffect, useMemo, useRef, useState } from "react"
import { Link } from "wouter"
import { copyText, useNarrow } from "../browser.ts"
import { formatClock, formatCount, formatDay, formatMoment } from "../service.ts"
import { Badge, Button, Empty, Failure, Panel, Search, useKey, Warnings } from "../ui/components.tsx"
import {
  buildRows,
  download,
  type FollowedSource,
  type LogRow,
  type MarkedStack,
  type MarkRow,
  maxBufferedLines,
  type ShownLine,
  unfoldJson,
  useHits,
  useLogAddress,
  useLogs,
  useMarks
} from "./useLogs.ts"

interface Copied {
  readonly words: string
  /** Link to copy by hand if the browser refused to copy it. */
  readonly url?: string
}

/** Copies links to lines of the log. */
const useCopiedLink = () => {
  const [copied, setCopied] = useState<Copied>()
  const copyLink = (line: ShownLine) => {
    const url = new URL(location.href)
    url.searchParams.set("at", line.time)
    url.searchParams.delete("since")
    void copyText(url.href).then((done) =>
      setCopied(
        done
          ? { words: `Copied a link to the line of ${formatClock(line.ms)}` }
          : { words: "Copy this link:", url: url.href }
      )
    )
  }
  return { copied, copyLink }
}

/** Announces the copied link, or shows it if it could not be copied. */
const CopiedLink = ({ link }: { readonly link: Copied | undefined }) => (
  <p className="log-copied quiet" role="status">
    {link === undefined ? null : (
      <>
        {link.words} {link.url === undefined ? null : <code>{link.url}</code>}
      </>
    )}
  </p>
)

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
interface LineDisplay {
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
const LogRowView = ({ look, row }: { readonly row: LogRow; readonly look: LineDisplay }) => {
  if (row.kind === "line") return <Line line={row} look={look} />
  if (row.kind === "day") return <div className="log-rule">{formatDay(row.ms)}</div>
  return (
    <div className={`log-rule mark ${row.run.state}`}>
      <time dateTime={new Date(row.ms).toISOString()} title={formatMoment(row.ms)}>{formatClock(row.ms)}</time>
      <Link href={`/activity/${encodeURIComponent(row.run.id)}`}>{runWords(row.run)}</Link>
    </div>
  )
}

const height = 21
/** Most lines that are visible at once. */
const mostShown = 17

/** Virtualized rows of a log; scrolls to the end while `following`. */
const LogLines = ({ following, look, onFollow, rows, target, tall, wrap }: {
  readonly rows: ReadonlyArray<LogRow>
  readonly look: LineDisplay
  readonly wrap: boolean
  /** Fills the screen. */
  readonly tall: boolean
  readonly following: boolean
  readonly onFollow: (following: boolean) => void
  /** Row to scroll to. `wish` changes with each request, so that the same row can be shown again. */
  readonly target: { readonly index: number; readonly wish: number } | undefined
}) => {
  const frame = useRef<HTMLDivElement>(null)
  const keyOf = useCallback((index: number) => rows[index]?.key ?? index, [rows])
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => height,
    getItemKey: keyOf,
    overscan: 12
  })
  const last = rows.at(-1)?.key
  const size = virtual.getTotalSize()
  useEffect(() => {
    if (following && frame.current !== null) frame.current.scrollTop = frame.current.scrollHeight
  }, [following, last, size])
  const wish = target?.wish
  const scrollTo = useRef(virtual.scrollToIndex)
  scrollTo.current = virtual.scrollToIndex
  useEffect(() => {
    if (target !== undefined) scrollTo.current(target.index, { align: "center" })
    // Depends on the request only: a row that moves when older ones are evicted is not scrolled to again.
  }, [wish])
  const scrolled = () => {
    const element = frame.current
    if (element === null) return
    const atEnd = element.scrollHeight - element.scrollTop - element.clientHeight < height * 2
    if (atEnd !== following) onFollow(atEnd)
  }
  return (
    <div
      className={`logs${wrap ? " wrap" : ""}${tall ? " tall" : ""}`}
      style={tall ? undefined : { height: Math.min(Math.max(rows.length, 6), mostShown) * height }}
      ref={frame}
      role="log"
      aria-live="off"
      aria-label="Log lines"
      tabIndex={0}
      onWheel={(event) => event.deltaY < 0 && onFollow(false)}
      onScroll={scrolled}
    >
      <div style={{ height: size, position: "relative" }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => {
          const row = rows[index]
          return row === undefined ? null : (
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              className="log-row"
              style={{ transform: `translateY(${start}px)` }}
            >
              <LogRowView row={row} look={look} />
            </div>
          )
        })}
      </div>
    </div>
  )
}

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
const LogToolbar = ({ address: { address, change, setText }, hit, onDownload, onStep, sources }: {
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

const minute = 60_000
const around = (at: string) => ({
  since: new Date(Date.parse(at) - minute).toISOString(),
  until: new Date(Date.parse(at) + 10 * minute).toISOString()
})

/** Sorted names of the services and projects of lines; keeps the names of evicted lines. */
const useSources = (lines: ReadonlyArray<ShownLine>): ReadonlyArray<string> => {
  const known = useRef(new Set<string>())
  return useMemo(() => {
    for (const { source } of lines) if (source !== "") known.current.add(source)
    return [...known.current].toSorted()
  }, [lines])
}

/** Scrolls to the line that the address links to, when it arrives. */
const useLinkedLine = (linked: number, show: (row: number) => void, onShow: () => void) =>
  useEffect(() => {
    if (linked === -1) return
    onShow()
    show(linked)
    // The row of a linked line is stable once the line has arrived.
  }, [linked])

const FollowButton = ({ isFollowing, isLinked, onFollow }: {
  readonly isLinked: boolean
  readonly isFollowing: boolean
  readonly onFollow: () => void
}) => (
  <Button icon="down" look={isFollowing && !isLinked ? "on small" : "small"} onClick={onFollow}>
    {isLinked ? "Show the latest lines" : isFollowing ? "Following" : "Follow"}
  </Button>
)

const LineCount = ({ count, name, shown }: {
  readonly name: string
  readonly shown: number
  readonly count: number
}) => (
  <span className="title">
    <Badge plain>
      <span className="mono">{name}</span>
    </Badge>
    <span className="numbers">
      {shown === count ? "" : `${shown} of `}
      {formatCount(count, "line")}
      {count >= maxBufferedLines ? ", older ones let go" : ""}
    </span>
  </span>
)

const NoLines = ({ isFiltered }: { readonly isFiltered: boolean }) => (
  <Empty title={isFiltered ? "No line fits" : "No lines yet"} icon="activity">
    {isFiltered ? "Choose more lines above." : "What the containers write appears here at once."}
  </Empty>
)

/** Live log of a stack, a container or several projects. The address stores its search, filters and linked line. */
export const LogView = ({ name, source, stacks, tall = false }: {
  readonly name: string
  readonly source: FollowedSource
  /** Stacks whose runs are shown among the lines. */
  readonly stacks: ReadonlyArray<MarkedStack>
  readonly tall?: boolean
}) => {
  const kept = useLogAddress()
  const { address: { at, level, showAll, since, source: chosen, text, unfold, whole, wrap }, change } = kept
  const wanted = useDeferredValue(text)
  const [following, setFollowing] = useState(at === "")
  const { copied, copyLink } = useCopiedLink()
  const one = "serverId" in source && "remotePath" in source.target
  const logs = useLogs(source, {
    ...at === "" ? { since, until: "" } : around(at),
    // The page filters by service itself, since it lists all of them. Only a search of the whole log requests one
    // service; a name with a number may be one of several containers.
    service: one && whole && !/-\d+$/.test(chosen) ? chosen : "",
    further: one && chosen !== "",
    contains: whole ? wanted : ""
  })
  const { lines } = logs
  const sources = useSources(lines)
  const marks = useMarks(stacks)
  const view = useMemo(
    () => buildRows(lines, marks, { text: wanted, source: chosen, level, showAll }),
    [lines, marks, wanted, chosen, level, showAll]
  )
  const hits = useHits(view, () => setFollowing(false))
  useKey("n", () => hits.step(1))
  useKey("N", () => hits.step(-1))

  const linked = at === "" ? -1 : view.rows.findIndex((row) => row.kind === "line" && row.time === at)
  useLinkedLine(linked, hits.show, () => setFollowing(false))
  const withSource = sources.length > 1
  return (
    <Panel
      title="Logs"
      note={<LineCount name={name} shown={view.lines} count={lines.length} />}
      aside={
        <>
          {one
            ? <Link className="link" href={`/logs?project=${encodeURIComponent(name)}`}>Beside other projects</Link>
            : null}
          <FollowButton
            isLinked={at !== ""}
            isFollowing={following}
            onFollow={() => {
              if (at !== "") change({ at: "" })
              setFollowing(true)
            }}
          />
        </>
      }
    >
      <LogToolbar
        address={kept}
        sources={sources}
        hit={wanted === "" ? undefined : hits}
        onStep={hits.step}
        onDownload={() => download(name, view.rows, withSource)}
      />
      <CopiedLink link={copied} />
      <Failure error={logs.failure} again={logs.again} />
      <Warnings texts={Object.entries(logs.unavailable).map(([project, error]) => `${project}: ${error}`)} />
      {at === "" || linked !== -1 || !logs.ended
        ? null
        : <Warnings texts={[`The line of ${formatMoment(Date.parse(at))} is not in the log any more`]} />}
      {view.rows.length === 0
        ? logs.failure === undefined ? <NoLines isFiltered={lines.length > 0} /> : null
        : (
          <LogLines
            rows={view.rows}
            wrap={wrap}
            tall={tall}
            following={following && at === ""}
            onFollow={setFollowing}
            target={hits.target}
            look={{
              wanted: wanted.toLowerCase(),
              withSource,
              unfold,
              current: ({ key, time }) => key === hits.current || (at !== "" && time === at),
              onLink: copyLink
            }}
          />
        )}
    </Panel>
  )
}
