import { Data, Effect } from "effect"
import type { GunzipFailed } from "../../services/bytes/gunzip.ts"
import type { LocalFileFailed } from "../../services/local/LocalFiles.ts"
import {
  blockSize,
  computePaddedSize,
  isEmptyBlock,
  parseFields,
  parseHeader,
  readTarText,
  type TarHeader
} from "./tarHeader.ts"
import type { TarSource } from "./tarSource.ts"

/** The archive has a form that cannot be sent in parts. */
export class UnsupportedArchive extends Data.TaggedError("ArchiveNotUnderstood")<{ readonly reason: string }> {}

/** Compression of a member's content, by its first bytes. */
export type Compression = "none" | "gzip" | "zstd"

/** A member of a tar. */
export interface TarMember {
  readonly name: string
  readonly kind: "file" | "symlink" | "directory" | "other"
  /** Target of a symlink. */
  readonly target: string
  /** Size of its content in bytes. */
  readonly size: number
  readonly packing: Compression
  /** Offset in the tar at which its padded content ends. */
  readonly end: number
}

/** The members of a tar in their order, and the content of those that look like JSON, by name. */
export interface TarIndex {
  readonly members: ReadonlyArray<TarMember>
  readonly json: ReadonlyMap<string, Uint8Array>
}

const mostMembers = 100_000
const longestJson = 2 * 1024 * 1024
/** Limits of what an archive announces about its members: a small one may unpack to gigabytes of names. */
const longestHeader = 64 * 1024
const longestName = 4096
const mostNameBytes = 16 * 1024 * 1024
const mostHeaders = 2 * mostMembers
const mostJson = 32 * 1024 * 1024

/** A name without `.` segments and doubled slashes. */
export const cleanName = (name: string): string =>
  name.split("/").filter((segment) => segment !== "" && segment !== ".").join("/")

/** Text of its own: a slice would keep the whole header in memory. */
const copyText = (text: string): string => Buffer.from(text).toString()

const refuse = (reason: string) => new UnsupportedArchive({ reason })
const magic = { gzip: [0x1f, 0x8b], zstd: [0x28, 0xb5, 0x2f, 0xfd] } as const

/** Detects the compression of content by its first bytes. */
export const detectCompression = (content: Uint8Array): Compression => {
  const begins = (bytes: ReadonlyArray<number>) => bytes.every((byte, index) => content[index] === byte)
  return begins(magic.gzip) ? "gzip" : begins(magic.zstd) ? "zstd" : "none"
}

const looksLikeJson = (content: Uint8Array) => content[0] === 0x7b || content[0] === 0x5b

/** Reads the headers of a tar from its beginning to its end. */
export const readTar = (
  source: TarSource
): Effect.Effect<TarIndex, UnsupportedArchive | LocalFileFailed | GunzipFailed> =>
  Effect.gen(function*() {
    const members: Array<TarMember> = []
    const json = new Map<string, Uint8Array>()
    let jsonBytes = 0
    let at = 0
    let nameBytes = 0
    let headers = 0
    let extra: { readonly name?: string; readonly target?: string; readonly size?: number } = {}

    const content = (size: number) =>
      Effect.gen(function*() {
        const bytes = yield* source.take(computePaddedSize(size))
        if (bytes.length < computePaddedSize(size)) return yield* refuse("it is cut short")
        at += computePaddedSize(size)
        return bytes.subarray(0, size)
      })

    const extend = ({ kind, size }: TarHeader) =>
      Effect.gen(function*() {
        if (size > longestHeader) return yield* refuse(`it holds a header of more than ${longestHeader / 1024} KiB`)
        headers += 1
        if (headers > mostHeaders) return yield* refuse(`it holds more than ${mostHeaders} headers`)
        const bytes = yield* content(size)
        if (kind === "longName") extra = { ...extra, name: readTarText(bytes) }
        if (kind === "longTarget") extra = { ...extra, target: readTarText(bytes) }
        if (kind !== "fields") return
        const fields = parseFields(bytes)
        if ([...fields.keys()].some((key) => key.startsWith("GNU.sparse."))) {
          return yield* refuse("it holds sparse files")
        }
        const [name, target, length] = [fields.get("path"), fields.get("linkpath"), fields.get("size")]
        extra = {
          ...extra,
          ...name === undefined ? {} : { name },
          ...target === undefined ? {} : { target },
          ...length === undefined ? {} : { size: Number(length) }
        }
      })

    while (true) {
      const block = yield* source.take(blockSize)
      if (block.length < blockSize) return yield* refuse("it is cut short")
      if (isEmptyBlock(block)) break
      at += blockSize
      const header = yield* Effect.mapError(parseHeader(block), refuse)
      const { kind } = header
      if (kind === "longName" || kind === "longTarget" || kind === "fields" || kind === "globalFields") {
        yield* extend(header)
        continue
      }
      const [fullName, target] = [extra.name ?? header.name, extra.target ?? header.target]
      if (fullName.length > longestName || target.length > longestName) {
        return yield* refuse(`it holds a name of more than ${longestName} characters`)
      }
      nameBytes += fullName.length + target.length
      if (nameBytes > mostNameBytes) {
        return yield* refuse(`its names have more than ${mostNameBytes / 1024 / 1024} MiB together`)
      }
      const name = copyText(cleanName(fullName))
      const size = kind === "file" ? extra.size ?? header.size : 0
      if (!Number.isSafeInteger(size) || size < 0) return yield* refuse("it holds a member whose size cannot be read")
      if (members.length === mostMembers) return yield* refuse(`it holds more than ${mostMembers} members`)
      let packing: Compression = "none"
      if (size > 0 && size <= longestJson && jsonBytes + size <= mostJson) {
        const bytes = yield* content(size)
        packing = detectCompression(bytes)
        if (looksLikeJson(bytes)) {
          json.set(name, bytes.slice())
          jsonBytes += size
        }
      } else if (size > 0) {
        packing = detectCompression(yield* source.take(blockSize))
        yield* source.skip(computePaddedSize(size) - blockSize)
        at += computePaddedSize(size)
      }
      members.push({ name, kind, target: copyText(target), size, packing, end: at })
      extra = {}
    }
    return { members, json }
  })
