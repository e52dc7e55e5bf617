import { useSyncExternalStore } from "react"

const query = matchMedia("(max-width: 860px)")

const subscribe = (listener: () => void) => {
  query.addEventListener("change", listener)
  return () => query.removeEventListener("change", listener)
}

/** True on a telephone: rows of a list are drawn as cards there. */
export const useNarrow = (): boolean => useSyncExternalStore(subscribe, () => query.matches)
