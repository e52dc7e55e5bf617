import { describe, expect, it } from "vitest"
import { findKnownLayers } from "../../../../src/pipelines/archive/imageTar.ts"

const image = (...layers: ReadonlyArray<string>) => ({
  layers: layers.map((layer) => ({ member: `blobs/${layer}`, diffId: layer, size: 1 }))
})
const sent = (images: ReadonlyArray<ReturnType<typeof image>>, ...chains: ReadonlyArray<ReadonlyArray<string>>) => {
  const known = findKnownLayers(images, chains)
  return [...new Set(images.flatMap(({ layers }) => layers.map(({ diffId }) => diffId)))]
    .filter((diffId) => !known.has(diffId))
}

describe("knownLayers", () => {
  it.each<
    [string, ReadonlyArray<ReturnType<typeof image>>, ReadonlyArray<ReadonlyArray<string>>, ReadonlyArray<string>]
  >([
    ["everything to an empty server", [image("a", "b")], [], ["a", "b"]],
    ["what stands above what the server has", [image("a", "b", "c")], [["a", "b", "x"]], ["c"]],
    ["nothing that a longer chain begins with", [image("a", "b")], [["a", "b", "c"]], []],
    ["what the server has in another order", [image("a", "b")], [["b", "a"]], ["a", "b"]],
    ["what the server has above something else", [image("a", "b")], [["x", "b"]], ["a", "b"]],
    ["all from the first difference on, whatever comes above it", [image("a", "x", "c")], [["a", "b", "c"]], [
      "x",
      "c"
    ]],
    ["what no single chain holds", [image("a", "b", "c")], [["a"], ["b", "c"]], ["b", "c"]],
    ["by the longest of several chains", [image("a", "b", "c")], [["a"], ["a", "b"], ["q"]], ["c"]],
    ["a layer that one image may leave out and another not", [image("a", "b"), image("c", "b")], [["a", "b"]], [
      "b",
      "c"
    ]],
    ["not a layer that all images may leave out", [image("a", "b"), image("c", "b")], [["a", "b"], ["c", "b"]], []],
    ["a layer that comes again higher up", [image("a", "b", "a")], [["a", "b"]], ["a"]],
    ["not a layer that comes again where the server has it too", [image("a", "b", "a", "c")], [["a", "b", "a"]], ["c"]]
  ])("sends %s", (_, images, chains, expected) => {
    expect(sent(images, ...chains)).toEqual(expected)
  })

  it("is quick with many long chains", () => {
    const chain = (seed: number) =>
      Array.from({ length: 120 }, (_, index) => `sha256:${"0".repeat(50)}${seed}-${index}`)
    const chains = Array.from({ length: 500 }, (_, seed) => chain(seed))
    expect(sent([image(...chain(7))], ...chains)).toEqual([])
  })
})
