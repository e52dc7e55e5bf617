import { useSyncExternalStore } from "react"
import { formatAge } from "../format/format.ts"
import { formatMoment } from "../format/localTime.ts"

const listeners = new Set<() => void>()
let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  timer ??= setInterval(() => {
    now = Date.now()
    for (const each of listeners) each()
  }, 1_000)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** Current time, updated every second. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => now)

/** Relative time that updates itself; `at` is in milliseconds or ISO 8601. */
export const Age = ({ at, before = "" }: { readonly at: number | string; readonly before?: string }) => {
  const current = useNow()
  const moment = typeof at === "number" ? at : Date.parse(at)
  if (!Number.isFinite(moment) || moment === 0) return null
  return (
    <time className="quiet numbers" dateTime={new Date(moment).toISOString()} title={formatMoment(moment)}>
      {before}
      {formatAge(Math.max(0, current - moment))}
    </time>
  )
}
