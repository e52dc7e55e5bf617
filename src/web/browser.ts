import { useEffect, useSyncExternalStore } from "react"
import { useLocationProperty } from "wouter/use-browser-location"

/**
 * Copies by a selection, since a page without https has no clipboard. Selects within an open modal dialog: nothing
 * behind it can be selected.
 */
const copyBySelection = (text: string): boolean => {
  const field = document.createElement("textarea")
  field.value = text
  const place = document.querySelector("dialog[open]") ?? document.body
  place.append(field)
  field.select()
  const done = document.execCommand("copy")
  field.remove()
  return done
}

/** Copies a text; false if the browser allows neither way. */
export const copyText = (text: string): Promise<boolean> =>
  navigator.clipboard === undefined
    ? Promise.resolve(copyBySelection(text))
    : navigator.clipboard.writeText(text).then(() => true, () => copyBySelection(text))

/** Decodes a segment of an address. A malformed one stays unchanged and matches nothing. */
export const decodeSegment = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

let screen = "Berth"
let busy = ""

const draw = () => {
  document.title = busy === "" ? screen : `${busy} – ${screen}`
}

/** Names the screen in the title of the browser's tab. */
export const setScreenTitle = (title: string): void => {
  screen = title
  draw()
}

const icons: { idle?: string } = {}
const busyIcon = "data:image/svg+xml," + encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#1557d6"/>` +
    `<circle cx="16" cy="16" r="8" fill="none" stroke="#fff" stroke-width="4" stroke-dasharray="36 15"/></svg>`
)

/** Shows a run under way in the tab's title and icon; an empty text resets them. */
export const setBusyTitle = (words: string): void => {
  busy = words === "" ? "" : `● ${words}`
  draw()
  const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]")
  if (icon === null) return
  icons.idle ??= icon.href
  const wanted = words === "" ? icons.idle : busyIcon
  if (icon.href !== wanted) icon.href = wanted
}

const settles = 10_000
const inputs = ["wheel", "touchmove", "pointerdown", "keydown"] as const

/**
 * Scrolls to the element of the address hash. Repeats that while content above it arrives, until user input or for ten
 * seconds.
 */
export const useAnchor = (id: string, isThere: boolean): void => {
  const hash = useLocationProperty(() => location.hash)
  const isWanted = isThere && hash === `#${id}`
  useEffect(() => {
    if (!isWanted) return
    const sizes = new ResizeObserver(() => document.getElementById(id)?.scrollIntoView())
    sizes.observe(document.body)
    const begun = performance.now()
    const stop = () => {
      sizes.disconnect()
      clearTimeout(timer)
      for (const input of inputs) removeEventListener(input, interrupt)
    }
    // Ignores the key press that led here, which is still being dispatched.
    const interrupt = ({ timeStamp }: Event) => timeStamp > begun && stop()
    const timer = setTimeout(stop, settles)
    for (const input of inputs) addEventListener(input, interrupt, { passive: true })
    return stop
  }, [id, isWanted])
}

const narrowScreen = () => matchMedia("(max-width: 860px)")

const subscribe = (listener: () => void) => {
  const query = narrowScreen()
  query.addEventListener("change", listener)
  return () => query.removeEventListener("change", listener)
}

/** True on a telephone: rows of a list are drawn as cards there. */
export const useNarrow = (): boolean => useSyncExternalStore(subscribe, () => narrowScreen().matches)
