import { Effect, Layer, Stream } from "effect"
import { gzipSync } from "node:zlib"
import { type ImageArchive, readImageArchive } from "../../../src/pipelines/archive/imageArchive.ts"
import { partialTar } from "../../../src/pipelines/archive/partialTar.ts"
import type { TarMember } from "../../../src/pipelines/archive/tarMembers.ts"
import { localFilesTest } from "../../layers/LocalFilesTest.ts"

const path = "/projects/shop/shop.tar"

/** What an archive is read from in a test: an archive of these bytes. */
export const archiveLayer = (bytes: Uint8Array) => Layer.mergeAll(localFilesTest({ [path]: bytes }))

/** Both ways in which one tar may come. */
export const packings = [["plain", (bytes: Buffer) => bytes], ["gzip", (bytes: Buffer) => gzipSync(bytes)]] as const

export const readArchive = (bytes: Uint8Array) => readImageArchive(path).pipe(Effect.provide(archiveLayer(bytes)))

/** The bytes of a partial tar, which has to be as long as it says. */
export const partOf = (bytes: Uint8Array, archive: ImageArchive, members: ReadonlyArray<TarMember>) =>
  Effect.gen(function*() {
    const part = yield* partialTar(archive, members)
    // Its chunks are lent.
    const copies = Stream.map(part.bytes, (chunk) => Buffer.from(chunk))
    const all = Buffer.concat([...yield* Stream.runCollect(copies)])
    return all.length === part.size ? all : yield* Effect.dieMessage(`${all.length} bytes in place of ${part.size}`)
  }).pipe(Effect.provide(archiveLayer(bytes)))
