import { useDeferredValue, useEffect, useMemo, useRef, useState } from "react"
import { Link } from "wouter"
import { formatCount } from "../format/format.ts"
import { formatMoment } from "../format/localTime.ts"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { Empty, Failure, Warnings } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { useKey } from "../ui/Search.tsx"
import { CopiedLink, useCopiedLink } from "./CopiedLink.tsx"
import { download } from "./download.ts"
import { LogLines } from "./LogLines.tsx"
import { buildRows } from "./logRows.ts"
import { LogToolbar } from "./LogToolbar.tsx"
import type { ShownLine } from "./shownLine.ts"
import { useHits } from "./useHits.ts"
import { useLogAddress } from "./useLogAddress.ts"
import { type FollowedSource, maxBufferedLines, useLogs } from "./useLogs.ts"
import { type MarkedStack, useMarks } from "./useMarks.ts"

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
