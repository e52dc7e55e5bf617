import type { ArchiveImage } from "./imageArchive.ts"

/** Layers of an image on a server, from the bottom up, by diff id. */
export type LayerChain = ReadonlyArray<string>

/** Counts the layers of a chain, from the bottom up, that the server has in this order. */
const knownPrefix = (chains: ReadonlyArray<LayerChain>) => {
  // Every prefix of a chain has a number; a longer prefix is looked up by the number of the shorter one and its last
  // layer.
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
 * Layers that a server has, by diff id. A layer counts only if an image on the server begins with the same layers up to
 * and including it. For a layer at several places, this must hold at each of them.
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
