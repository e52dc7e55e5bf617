import { describe, expect, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { missingMembers } from "../../../src/pipelines/archive/missingMembers.ts"
import { partialTar } from "../../../src/pipelines/archive/partialTar.ts"
import { classicArchive, diffId, tar, type TarEntry } from "../../fixtures/tar.ts"
import { archiveLayer, packings, partOf, readArchive } from "./archiveOf.ts"

const base = "b".repeat(700_001)
const shop = { repoTags: ["shop"], layers: [base, "middle", "app"] }
const entries = classicArchive([shop])
const known = [diffId(base), diffId("middle")]

const contentOf = ({ content = "" }: TarEntry) => content

describe("partialTar", () => {
  for (const [packing, pack] of packings) {
    it.effect(`is the archive without the layers that are left out, byte for byte, ${packing}`, () =>
      Effect.gen(function*() {
        const bytes = pack(tar(entries))
        const archive = yield* readArchive(bytes)
        const part = yield* partOf(bytes, archive, missingMembers(archive, [known]))
        expect(part.equals(tar(entries.filter((entry) => ![base, "middle"].includes(contentOf(entry).toString())))))
          .toBe(true)
        expect(part.length).toBeLessThan(20_000)
      }))

    it.effect(`is the whole archive when nothing is left out, ${packing}`, () =>
      Effect.gen(function*() {
        const bytes = pack(tar(entries))
        const archive = yield* readArchive(bytes)
        expect((yield* partOf(bytes, archive, archive.members)).equals(tar(entries))).toBe(true)
      }))

    it.effect(`drops a long name with its member, and keeps others with theirs, ${packing}`, () =>
      Effect.gen(function*() {
        const name = (letter: string) => `${letter.repeat(150)}/file`
        const long: ReadonlyArray<TarEntry> = [
          { name: name("a"), long: "gnu", content: "1" },
          { name: name("b"), long: "pax", content: "2" },
          ...entries
        ]
        const bytes = pack(tar(long))
        const archive = yield* readArchive(bytes)
        const kept = archive.members.filter((member) => member.name !== name("a"))
        expect((yield* partOf(bytes, archive, kept)).equals(tar(long.slice(1)))).toBe(true)
      }))
  }

  it.effect("fails when the archive has become shorter since it was read", () =>
    Effect.gen(function*() {
      const bytes = tar(entries)
      const archive = yield* readArchive(bytes)
      const failure = yield* partialTar(archive, archive.members).pipe(
        Effect.flatMap(({ bytes }) => Stream.runDrain(bytes)),
        Effect.provide(archiveLayer(bytes.subarray(0, 5_000))),
        Effect.flip
      )
      expect(failure.message).toMatch(/shop.tar: changed while it was being sent/)
    }))
})
