import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Either } from "effect"
import { gzipSync } from "node:zlib"
import { patience } from "../../fixtures/patience.ts"
import { inPart } from "../../fixtures/thorough.ts"
import { readArchive } from "./archiveOf.ts"

const block = 512

/** Header of a tar member with a valid checksum. */
const header = (type: string, size: number, name = "x") => {
  const bytes = Buffer.alloc(block)
  bytes.write(name, 0)
  bytes.write("0000644\0", 100)
  bytes.write(`${size.toString(8).padStart(11, "0")}\0`, 124)
  bytes.write("        ", 148)
  bytes.write(type, 156)
  bytes.write("ustar\u000000", 257)
  bytes.write(`${bytes.reduce((sum, byte) => sum + byte, 0).toString(8).padStart(6, "0")}\0 `, 148)
  return bytes
}
const padded = (content: Buffer) => Buffer.concat([content, Buffer.alloc((block - (content.length % block)) % block)])
const member = (type: string, content: Buffer, name?: string) =>
  Buffer.concat([header(type, content.length, name), padded(content)])
const pax = (key: string, value: string) => {
  const rest = ` ${key}=${value}\n`
  let size = rest.length
  while (`${size}${rest}`.length !== size) size = `${size}${rest}`.length
  return Buffer.from(`${size}${rest}`)
}
const long = (bytes: number) => Buffer.alloc(bytes, "a/")
const repeat = (count: number, part: Buffer) => Buffer.concat(Array.from({ length: count }, () => part))
const empty = header("0", 0)

const shapes: ReadonlyArray<readonly [string, () => Buffer]> = [
  ["names of 2 MiB", () => repeat(4, Buffer.concat([member("L", long(2 * 1024 * 1024)), empty]))],
  [
    "names of 2 MiB as fields",
    () => repeat(4, Buffer.concat([member("x", pax("path", "a".repeat(2_000_000))), empty]))
  ],
  ["targets of 2 MiB", () => repeat(4, Buffer.concat([member("K", long(2 * 1024 * 1024)), header("2", 0)]))],
  ["names of 4,097 characters", () => Buffer.concat([member("L", long(4097)), empty])],
  ["names of 4 KiB, 16 MiB together", () => repeat(5000, Buffer.concat([member("L", long(4096)), empty]))],
  ["more than 100,000 members", () => repeat(100_001, empty)],
  ["200,001 headers without a member", () => repeat(200_001, member("g", pax("comment", "x")))],
  ["headers of headers", () => repeat(200_001, member("L", Buffer.from("y")))],
  ["a header that is cut short", () => header("L", 60_000)],
  ["a header of 8 GiB", () => header("x", 8 * 1024 ** 3 - 1)],
  ["a member of 8 GiB that is cut short", () => header("0", 8 * 1024 ** 3 - 1)],
  ["no end", () => empty]
]

describe("an archive with", () => {
  const cases = shapes.flatMap(([shape, build]) => [[shape, "plain", build], [shape, "gzip", build]] as const)
  // The long ones take seconds in either packing.
  it.live.each(inPart(cases, cases.filter(([shape]) => !/00,00|headers of headers/.test(shape))))(
    "%s, %s, is refused soon and in little memory",
    ([, packing, build]) =>
      Effect.gen(function*() {
        const tar = Buffer.concat([build(), ...packing === "gzip" ? [Buffer.alloc(2 * block)] : []])
        const bytes = packing === "gzip" ? gzipSync(tar) : tar
        const before = process.memoryUsage()
        const [elapsed, read] = yield* Effect.timed(Effect.either(readArchive(bytes)))
        const after = process.memoryUsage()
        expect(Either.isLeft(read)).toBe(true)
        expect(Duration.toSeconds(elapsed)).toBeLessThan(20 * patience)
        // Garbage that is not collected yet counts too; without limits it would be gigabytes.
        expect((after.heapUsed - before.heapUsed) / 1024 / 1024).toBeLessThan(900)
      }),
    60_000
  )
})
