import { useVirtualizer } from "@tanstack/react-virtual"
import { useEffect, useRef } from "react"
import type { ShownLine } from "./useLogs.ts"

const height = 21
/** How many lines are in sight at a time. */
const mostShown = 17

const timeOf = (time: string): string => /T(\d\d:\d\d:\d\d(?:\.\d{1,3})?)/.exec(time)?.[1] ?? ""

/** Lines of a log, of which only those in sight are drawn; it stays at the end while `following`. */
export const LogLines = ({ following, lines, onFollow, withService }: {
  readonly lines: ReadonlyArray<ShownLine>
  readonly following: boolean
  readonly onFollow: (following: boolean) => void
  readonly withService: boolean
}) => {
  const frame = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => frame.current,
    estimateSize: () => height,
    overscan: 12
  })
  const last = lines.at(-1)?.key
  useEffect(() => {
    if (following && frame.current !== null) frame.current.scrollTop = frame.current.scrollHeight
  }, [following, last])
  const scrolled = () => {
    const element = frame.current
    if (element === null) return
    const atEnd = element.scrollHeight - element.scrollTop - element.clientHeight < height * 2
    if (atEnd !== following) onFollow(atEnd)
  }
  return (
    <div
      className="logs"
      style={{ height: Math.min(Math.max(lines.length, 6), mostShown) * height }}
      ref={frame}
      role="log"
      aria-live="off"
      aria-label="Log lines"
      tabIndex={0}
      onWheel={(event) => event.deltaY < 0 && onFollow(false)}
      onScroll={scrolled}
    >
      <div style={{ height: rows.getTotalSize(), position: "relative" }}>
        {rows.getVirtualItems().map(({ index, start }) => {
          const line = lines[index]
          return line === undefined ?
            null :
            (
              <div key={line.key} className={`log-line ${line.level}`} style={{ transform: `translateY(${start}px)` }}>
                <time>{timeOf(line.time)}</time>
                {withService && line.service !== "" ? <span className="service">{line.service}</span> : null}
                <span>{line.text}</span>
              </div>
            )
        })}
      </div>
    </div>
  )
}
