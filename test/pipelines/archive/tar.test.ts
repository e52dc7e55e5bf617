import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { isEmptyBlock, parseFields, parseHeader } from "../../../src/pipelines/archive/tar.ts"
import { tar } from "../../fixtures/docker/tar.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

describe("parseHeader", () => {
  it("reads names, kinds, targets and sizes", () => {
    const header = (entry: Parameters<typeof tar>[0][number]) => parseHeader(tar([entry]).subarray(0, 512))
    expect(header({ name: "a/b", content: "hello" })).toEqual(
      Either.right({ kind: "file", name: "a/b", target: "", size: 5 })
    )
    expect(header({ name: "a/" })).toEqual(Either.right({ kind: "directory", name: "a/", target: "", size: 0 }))
    expect(header({ name: "a", target: "../b" })).toMatchObject({ right: { kind: "symlink", target: "../b" } })
    expect(header({ name: "x/y", long: "prefix" })).toMatchObject({ right: { name: "x/y" } })
    expect(header({ name: "a", type: "5", content: "odd" })).toMatchObject({ right: { kind: "directory", size: 0 } })
  })

  it("reads sizes that octal digits cannot hold", () => {
    const block = tar([{ name: "big" }]).subarray(0, 512)
    block.fill(0, 124, 136)
    block[124] = 0x80
    block.writeUIntBE(20 * 2 ** 30, 130, 6)
    block.write("        ", 148)
    block.write(`${block.reduce((sum, byte) => sum + byte, 0).toString(8).padStart(6, "0")}\0 `, 148)
    expect(parseHeader(block)).toMatchObject({ right: { size: 20 * 2 ** 30 } })
  })

  it("turns down what is no header, and kinds it does not know", () => {
    expect(parseHeader(new Uint8Array(512).fill(7))).toEqual(Either.left("it is not a tar archive"))
    expect(parseHeader(tar([{ name: "a", type: "S" }]).subarray(0, 512))).toEqual(
      Either.left("it holds members of the type \"S\"")
    )
  })

  it("knows the blocks that end a tar", () => {
    expect(isEmptyBlock(new Uint8Array(512))).toBe(true)
    expect(isEmptyBlock(tar([{ name: "a" }]).subarray(0, 512))).toBe(false)
  })
})

describe("parseFields", () => {
  it("reads fields by their lengths", () => {
    expect([...parseFields(bytes("12 path=a=b\n10 size=1\n"))]).toEqual([["path", "a=b"], ["size", "1"]])
    expect([...parseFields(bytes("15 path=äöü\n"))]).toEqual([["path", "äöü"]])
  })

  it.each(["x", "5", "99999999999 path=a\n", "0 path=a\n", "-3 path=a\n"])("does not hang on %j", (text) => {
    expect(parseFields(bytes(text)).size).toBeLessThan(2)
  })
})
