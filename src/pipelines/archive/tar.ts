import { Chunk, Data, Effect, Either, Option, type Scope, Stream } from "effect"
import { decompress, type GunzipFailed } from "../../services/bytes.ts"
import { capacity } from "../../services/limits.ts"
import { type LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"

/** Block size of a tar in bytes. */
export const blockSize = 512

/** Size of some content in a tar, including padding. */
export const computePaddedSize = (bytes: number): number => Math.ceil(bytes / blockSize) * blockSize

/** Content of a header: a member, or a long name, a long link or further fields for the next member. */
type HeaderKind =
  | "file"
  | "symlink"
  | "directory"
  | "other"
  | "longName"
  | "longTarget"
  | "fields"
  | "globalFields"

/** A header block. `size` is the size of the following content in bytes. */
interface TarHeader {
  readonly kind: HeaderKind
  readonly name: string
  readonly target: string
  readonly size: number
}

const kinds: Readonly<Record<string, HeaderKind>> = {
  "\0": "file",
  "0": "file",
  "7": "file",
  "1": "other",
  "2": "symlink",
  "3": "other",
  "4": "other",
  "5": "directory",
  "6": "other",
  L: "longName",
  K: "longTarget",
  x: "fields",
  g: "globalFields"
}
const withContent: ReadonlyArray<HeaderKind> = ["file", "longName", "longTarget", "fields", "globalFields"]

const decoder = new TextDecoder()

/** A text field: up to its first NUL. */
const readTarText = (bytes: Uint8Array): string => {
  const end = bytes.indexOf(0)
  return decoder.decode(end < 0 ? bytes : bytes.subarray(0, end))
}

// Reads octal digits, or big-endian bytes behind a set first bit for larger numbers.
const numberOf = (bytes: Uint8Array): number => {
  const first = bytes[0] ?? 0
  if (first === 0x80) return bytes.subarray(1).reduce((number, byte) => number * 256 + byte, 0)
  const digits = readTarText(bytes).trim()
  return digits === "" ? 0 : /^[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : Number.NaN
}

const checksumAt = 148
const checksumEnd = 156

const checksum = (block: Uint8Array) =>
  block.reduce((sum, byte, index) => sum + (index >= checksumAt && index < checksumEnd ? 32 : byte), 0)

const encoder = new TextEncoder()
const mostOctal = 8 ** 11

/** Longest name and longest target of a link that a header block has room for, in bytes. */
export const longestHeaderName = 100

/** Fields of a header block. */
export interface HeaderFields {
  /** At most `longestHeaderName` bytes. */
  readonly name: string
  readonly size: number
  /** `0` for a file, `2` for a symlink, `5` for a directory, `x` for fields of the next member. */
  readonly type: "0" | "2" | "5" | "x"
  /** Permissions. */
  readonly mode: number
  /** Time of its last change, in seconds since 1970. */
  readonly time: number
  /** Target of a symlink. */
  readonly target: string
}

/** Writes a header block of a member that belongs to root. */
export const buildHeader = ({ mode, name, size, target, time, type }: HeaderFields): Uint8Array => {
  const block = new Uint8Array(blockSize)
  const put = (at: number, text: string) => block.set(encoder.encode(text), at)
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, "0")}\0`
  put(0, name)
  put(100, octal(mode, 7))
  put(108, octal(0, 7))
  put(116, octal(0, 7))
  if (size < mostOctal) put(124, octal(size, 11))
  else {
    block[124] = 0x80
    for (let at = 135, rest = size; rest > 0; at--, rest = Math.floor(rest / 256)) block[at] = rest % 256
  }
  put(136, octal(time, 11))
  put(checksumEnd, type)
  put(157, target)
  put(257, "ustar\u000000")
  put(checksumAt, `${octal(checksum(block), 6)} `)
  return block
}

/** Writes the header block of a world-readable file; deterministic for a name and size. */
export const buildFileHeader = (name: string, size: number): Uint8Array =>
  buildHeader({ name, size, type: "0", mode: 0o644, time: 0, target: "" })

/** True for the empty blocks that end a tar. */
export const isEmptyBlock = (block: Uint8Array): boolean => block.every((byte) => byte === 0)

/** Parses a header block; left is the reason why it cannot be parsed. */
export const parseHeader = (block: Uint8Array): Either.Either<TarHeader, string> => {
  if (numberOf(block.subarray(checksumAt, checksumEnd)) !== checksum(block)) {
    return Either.left("it is not a tar archive")
  }
  const type = String.fromCharCode(block[checksumEnd] ?? 0)
  const kind = kinds[type]
  if (kind === undefined) return Either.left(`it holds members of the type ${JSON.stringify(type)}`)
  const size = withContent.includes(kind) ? numberOf(block.subarray(124, 136)) : 0
  if (!Number.isSafeInteger(size)) return Either.left("it holds a member whose size cannot be read")
  const name = readTarText(block.subarray(0, 100))
  // In POSIX headers this is the front of a long name; GNU stores other fields here.
  const prefix = readTarText(block.subarray(257, 263)) === "ustar" ? readTarText(block.subarray(345, 500)) : ""
  return Either.right({
    kind,
    name: prefix === "" ? name : `${prefix}/${name}`,
    target: readTarText(block.subarray(157, 257)),
    size
  })
}

/** Parses the content of a header of the kind `fields`: lines of `<length> <key>=<value>`. */
export const parseFields = (content: Uint8Array): ReadonlyMap<string, string> => {
  const fields = new Map<string, string>()
  for (let at = 0; at < content.length;) {
    const space = content.indexOf(32, at)
    const length = space < 0 ? Number.NaN : Number(decoder.decode(content.subarray(at, space)))
    if (!Number.isSafeInteger(length) || length < space - at + 2) return fields
    const [key = "", ...value] = decoder.decode(content.subarray(space + 1, at + length - 1)).split("=")
    fields.set(key, value.join("="))
    at += length
  }
  return fields
}

/** Sequential reader of a tar. */
interface TarSource {
  /** Returns the next bytes; fewer only at the end. */
  readonly take: (bytes: number) => Effect.Effect<Uint8Array, LocalFileFailed | GunzipFailed>
  /** Skips the next bytes. */
  readonly skip: (bytes: number) => Effect.Effect<void, LocalFileFailed | GunzipFailed>
}

const windowSize = 64 * 1024

const join = (all: ReadonlyArray<Uint8Array>): Uint8Array => {
  const [first] = all
  if (first !== undefined && all.length === 1) return first
  const joined = new Uint8Array(all.reduce((sum, { length }) => sum + length, 0))
  all.reduce((at, chunk) => {
    joined.set(chunk, at)
    return at + chunk.length
  }, 0)
  return joined
}

/** Uncompressed tar; only the taken ranges are read. */
export const makePlainSource = (path: string): Effect.Effect<TarSource, never, LocalFiles> =>
  Effect.map(LocalFiles, (files) => {
    let position = 0
    let window: { readonly offset: number; readonly bytes: Uint8Array } = { offset: 0, bytes: new Uint8Array() }
    const read = (offset: number, bytes: number) =>
      Effect.map(Stream.runCollect(files.stream(path, { offset, bytes })), (all) => join(Chunk.toReadonlyArray(all)))
    return {
      take: (bytes) =>
        Effect.gen(function*() {
          if (position < window.offset || position + bytes > window.offset + window.bytes.length) {
            window = { offset: position, bytes: yield* read(position, Math.max(bytes, windowSize)) }
          }
          const taken = window.bytes.subarray(position - window.offset, position - window.offset + bytes)
          position += taken.length
          return taken
        }),
      skip: (bytes) =>
        Effect.sync(() => {
          position += bytes
        })
    }
  })

/** Gzip-compressed tar, decompressed while it is read. */
export const makeGzipSource = (path: string): Effect.Effect<TarSource, never, LocalFiles | Scope.Scope> =>
  Effect.gen(function*() {
    const bytes = decompress((yield* LocalFiles).stream(path))
    const pull = yield* Stream.toPull(bytes)
    const next = Effect.catchAll(
      Effect.asSome(pull),
      Option.match({ onNone: () => Effect.succeedNone, onSome: Effect.fail<LocalFileFailed | GunzipFailed> })
    )
    let left: Uint8Array = new Uint8Array()

    /** Passes the next bytes on in pieces, up to the given number or the end. */
    const each = (bytes: number, use: (piece: Uint8Array) => void) =>
      Effect.gen(function*() {
        for (let missing = bytes; missing > 0;) {
          if (left.length === 0) {
            const chunk = yield* next
            if (Option.isNone(chunk)) return
            left = join(Chunk.toReadonlyArray(chunk.value))
          }
          const piece = left.subarray(0, missing)
          use(piece)
          left = left.subarray(piece.length)
          missing -= piece.length
        }
      })

    return {
      take: (bytes) =>
        Effect.gen(function*() {
          const pieces: Array<Uint8Array> = []
          yield* each(bytes, (piece) => pieces.push(piece))
          return join(pieces)
        }),
      skip: (bytes) => each(bytes, () => undefined)
    }
  })

/** The archive has a form that cannot be sent in parts. */
export class UnsupportedArchive extends Data.TaggedError("ArchiveNotUnderstood")<{
  readonly reason: string
  /** `zstd` if all of it is compressed so, `files` for a tar of something else than images. */
  readonly form?: "zstd" | "files"
}> {}

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
interface TarIndex {
  readonly members: ReadonlyArray<TarMember>
  readonly json: ReadonlyMap<string, Uint8Array>
}

const mostHeaders = 2 * capacity.archive.members
const longestJson = 2 * 1024 * 1024
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
        if (size > capacity.archive.header) {
          return yield* refuse(`it holds a header of more than ${capacity.archive.header / 1024} KiB`)
        }
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
      if (fullName.length > capacity.archive.name || target.length > capacity.archive.name) {
        return yield* refuse(`it holds a name of more than ${capacity.archive.name} characters`)
      }
      nameBytes += fullName.length + target.length
      if (nameBytes > capacity.archive.names) {
        return yield* refuse(`its names have more than ${capacity.archive.names / 1024 / 1024} MiB together`)
      }
      const name = copyText(cleanName(fullName))
      const size = kind === "file" ? extra.size ?? header.size : 0
      if (!Number.isSafeInteger(size) || size < 0) return yield* refuse("it holds a member whose size cannot be read")
      if (members.length === capacity.archive.members) {
        return yield* refuse(`it holds more than ${capacity.archive.members} members`)
      }
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
