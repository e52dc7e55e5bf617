import type { ImageArchive } from "./imageArchive.ts"
import type { TarMember } from "./tarMembers.ts"

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
 * The members that a server needs of an archive. A layer is left out only where the server has an image whose layers
 * begin with the same ones, up to and including it; one that stands in several places, only where that holds for all.
 */
export const missingMembers = (
  { images, members }: Pick<ImageArchive, "images" | "members">,
  chains: ReadonlyArray<LayerChain>
): ReadonlyArray<TarMember> => {
  const known = knownPrefix(chains)
  const wanted = new Set<string>()
  const layers = new Set<string>()
  for (const image of images) {
    const length = known(image.layers.map(({ diffId }) => diffId))
    for (const [index, { member }] of image.layers.entries()) {
      layers.add(member)
      if (index >= length) wanted.add(member)
    }
  }
  return members.filter(({ name }) => !layers.has(name) || wanted.has(name))
}
