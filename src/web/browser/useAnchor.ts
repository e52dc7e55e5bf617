import { useEffect } from "react"
import { useLocationProperty } from "wouter/use-browser-location"

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
