import { useSearchParams } from "wouter"

const mostCompared = 2

const byAge = (ids: ReadonlyArray<string>) => ids.toSorted((one, other) => Number(one) - Number(other))

/** Releases chosen for a comparison, oldest first; stored in the address. */
export const useComparedReleases = () => {
  const [params, setParams] = useSearchParams()
  const chosen = byAge([...new Set(params.getAll("compare"))].slice(-mostCompared))
  const choose = (ids: ReadonlyArray<string>) =>
    setParams((before) => {
      const after = new URLSearchParams(before)
      after.delete("compare")
      for (const id of ids) after.append("compare", id)
      return after
    })
  return {
    chosen,
    /** Adds a release to the comparison or removes it. A third one replaces the one that was chosen first. */
    toggle: (id: string) =>
      choose(
        chosen.includes(id)
          ? chosen.filter((each) => each !== id)
          : [...new Set(params.getAll("compare")), id].slice(-mostCompared)
      ),
    clear: () => choose([])
  }
}
