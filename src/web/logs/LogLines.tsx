import { useVirtualizer } from "@tanstack/react-virtual"
import { useCallback, useEffect, useRef } from "react"
import type { LogRow } from "./logRows.ts"
import { type LineDisplay, LogRowView } from "./LogRowView.tsx"

const height = 21
/** Most lines that are visible at once. */
const mostShown = 17

/** Virtualized rows of a log; scrolls to the end while `following`. */
export const LogLines = ({ following, look, onFollow, rows, target, tall, wrap }: {
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
