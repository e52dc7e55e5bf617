import { useState } from "react"
import type { LogRows } from "./logRows.ts"
import type { ShownLine } from "./shownLine.ts"

/** Steps between hits. The current hit is stored by its key: positions change as lines arrive and are evicted. */
export const useHits = ({ hits, rows }: LogRows, onStep: () => void) => {
  const [current, setCurrent] = useState<ShownLine["key"]>()
  const [target, setTarget] = useState<{ readonly index: number; readonly wish: number }>()
  const position = current === undefined ? -1 : hits.findIndex((index) => rows[index]?.key === current)
  const show = (index: number) => setTarget((before) => ({ index, wish: (before?.wish ?? 0) + 1 }))
  const step = (by: 1 | -1) => {
    if (hits.length === 0) return
    const next = position === -1 ? (by === 1 ? 0 : hits.length - 1) : (position + by + hits.length) % hits.length
    const index = hits[next]
    const row = index === undefined ? undefined : rows[index]
    if (index === undefined || row?.kind !== "line") return
    setCurrent(row.key)
    onStep()
    show(index)
  }
  return { current, position: position + 1, count: hits.length, step, show, target }
}
