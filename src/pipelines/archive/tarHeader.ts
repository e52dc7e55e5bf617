import { Either } from "effect"

/** Block size of a tar in bytes. */
export const blockSize = 512

/** Size of some content in a tar, including padding. */
export const computePaddedSize = (bytes: number): number => Math.ceil(bytes / blockSize) * blockSize

/** Content of a header: a member, or a long name, a long link or further fields for the next member. */
export type HeaderKind =
  | "file"
  | "symlink"
  | "directory"
  | "other"
  | "longName"
  | "longTarget"
  | "fields"
  | "globalFields"

/** A header block. `size` is the size of the following content in bytes. */
export interface TarHeader {
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
export const readTarText = (bytes: Uint8Array): string => {
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

/** Writes the header block of a world-readable file; deterministic for a name and size. */
export const buildFileHeader = (name: string, size: number): Uint8Array => {
  const block = new Uint8Array(blockSize)
  const put = (at: number, text: string) => block.set(encoder.encode(text), at)
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, "0")}\0`
  put(0, name)
  put(100, octal(0o644, 7))
  put(108, octal(0, 7))
  put(116, octal(0, 7))
  if (size < mostOctal) put(124, octal(size, 11))
  else {
    block[124] = 0x80
    for (let at = 135, rest = size; rest > 0; at--, rest = Math.floor(rest / 256)) block[at] = rest % 256
  }
  put(136, octal(0, 11))
  put(checksumEnd, "0")
  put(257, "ustar\u000000")
  put(checksumAt, `${octal(checksum(block), 6)} `)
  return block
}

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
