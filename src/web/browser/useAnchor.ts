import { useEffect } from "react"
import { useLocationProperty } from "wouter/use-browser-location"

const settles = 10_000
const inputs = ["wheel", "touchmove", "pointerdown", "keydown"] as const

/**
 * Scrolls to the element that the address names behind its #. What is above it arrives later and would push it out of sight:
 * it is scrolled to again, until the user does something or the page has had time to settle.
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
    // The key that led here is still on its way.
    const interrupt = ({ timeStamp }: Event) => timeStamp > begun && stop()
    const timer = setTimeout(stop, settles)
    for (const input of inputs) addEventListener(input, interrupt, { passive: true })
    return stop
  }, [id, isWanted])
}
