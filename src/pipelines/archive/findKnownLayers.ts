import type { ArchiveImage } from "./imageArchive.ts"

/** The layers of an image that a server has, from the bottom up, by their diff ids. */
export type LayerChain = ReadonlyArray<string>

/** Answers how many layers of a chain, from the bottom up, the server has in this order. */
const knownPrefix = (chains: ReadonlyArray<LayerChain>) => {
  // Every prefix of a chain is a number; a longer one is found by the one before it and its last layer.
  const prefixes = new Map<string, number>()
  for (const chain of chains) {
    chain.reduce((prefix, diffId) => {
      const key = `${prefix} ${diffId}`
      const known = prefixes.get(key) ?? prefixes.size + 1
      prefixes.set(key, known)
      return known
    }, 0)
  }
  return (chain: LayerChain): number => {
    let prefix: number | undefined = 0
    for (const [length, diffId] of chain.entries()) {
      prefix = prefixes.get(`${prefix} ${diffId}`)
      if (prefix === undefined) return length
    }
    return chain.length
  }
}

/**
 * The layers of images that a server has, by their diff ids. A layer counts only where the server has an image whose
 * layers begin with the same ones, up to and including it; one that is in several places, only where that holds for all.
 */
export const findKnownLayers = (
  images: ReadonlyArray<Pick<ArchiveImage, "layers">>,
  chains: ReadonlyArray<LayerChain>
): ReadonlySet<string> => {
  const known = knownPrefix(chains)
  const [below, above] = [new Set<string>(), new Set<string>()]
  for (const { layers } of images) {
    const chain = layers.map(({ diffId }) => diffId)
    const length = known(chain)
    for (const [index, diffId] of chain.entries()) (index < length ? below : above).add(diffId)
  }
  return new Set([...below].filter((diffId) => !above.has(diffId)))
}
