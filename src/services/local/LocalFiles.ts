import { Context, type Effect, type Option, Schema, type Stream } from "effect"
import { cut } from "../../schema/words/quoted.ts"

/** Type of a directory entry; links are not followed. */
export type LocalKind = "file" | "directory" | "link" | "other"

/** Name and type of an entry in a local directory. */
export interface LocalName {
  readonly name: string
  readonly kind: LocalKind
}

/** An entry of a local directory. `size` is in bytes, `modified` in milliseconds since 1970, `mode` its permissions. */
export interface LocalEntry extends LocalName {
  readonly size: number
  readonly modified: number
  readonly mode: number
}

/** Range of a file: up to `bytes` from `offset`, or the rest of the file without `bytes`. */
export interface FileRange {
  readonly offset: number
  readonly bytes?: number
}

/** A local file or directory could not be read or written. */
export class LocalFileFailed extends Schema.TaggedError<LocalFileFailed>()("LocalFileFailed", {
  path: Schema.String,
  reason: Schema.String
}) {
  readonly status = 500
  override get message() {
    return `${cut(this.path)}: ${this.reason}`
  }
}

/** Permissions of a written file. */
export interface WriteOptions {
  readonly mode?: number
  /** Creates missing parent directories with these permissions; without it, a missing directory is a failure. */
  readonly directoryMode?: number
}

/** Permissions of files beside the settings, which only this user may read. */
export const privateFile = { mode: 0o600, directoryMode: 0o700 } as const

/** The files of the machine that Berth runs on. Paths are absolute; writes are atomic: a temporary file, then a rename. */
export class LocalFiles extends Context.Tag("berth/LocalFiles")<LocalFiles, {
  /** Entry at a path, with links followed; none when it does not exist. */
  readonly find: (path: string) => Effect.Effect<Option.Option<LocalEntry>, LocalFileFailed>
  /** Names in a directory, sorted, links reported as links. Reads the directory once, without a stat of its files. */
  readonly names: (path: string) => Effect.Effect<ReadonlyArray<LocalName>, LocalFileFailed>
  /** Entries of a directory sorted by name, links reported as links. Calls stat for each entry. */
  readonly list: (path: string) => Effect.Effect<ReadonlyArray<LocalEntry>, LocalFileFailed>
  /** Resolves every link in a path. */
  readonly realPath: (path: string) => Effect.Effect<string, LocalFileFailed>
  /** Content of a regular file of 32 MiB at most; larger ones are streamed. */
  readonly read: (path: string) => Effect.Effect<Uint8Array, LocalFileFailed>
  /** Streams a file, or a range of it, in chunks of 256 KiB. */
  readonly stream: (path: string, range?: FileRange) => Stream.Stream<Uint8Array, LocalFileFailed>
  /**
   * Like `stream`, but lends its chunks: each is valid until the next one is pulled, then its memory is reused. For big
   * files whose bytes are read once.
   */
  readonly lend: (path: string, range?: FileRange) => Stream.Stream<Uint8Array, LocalFileFailed>
  /** The sha256 of a file as lower-case hex, read as a stream. */
  readonly sha256: (path: string) => Effect.Effect<string, LocalFileFailed>
  /**
   * Replaces or creates a file, following links. Without `mode`, an existing file keeps its permissions and a new one
   * gets 0644.
   */
  readonly write: (
    path: string,
    content: Uint8Array | string,
    options?: WriteOptions
  ) => Effect.Effect<void, LocalFileFailed>
  /** Creates a file unless the name exists; returns true when it was created. */
  readonly create: (
    path: string,
    content: Uint8Array | string,
    options?: { readonly mode?: number }
  ) => Effect.Effect<boolean, LocalFileFailed>
  /**
   * Writes a stream to a temporary file and renames it when complete; a failure leaves no partial file. Replaces a link
   * at the path and does not follow it. `mode` defaults to 0644. Returns the number of bytes.
   */
  readonly save: <E>(
    path: string,
    content: Stream.Stream<Uint8Array, E>,
    options?: WriteOptions
  ) => Effect.Effect<number, LocalFileFailed | E>
  /** Creates a directory and its missing parents. `mode` defaults to 0777 without the bits of the umask. */
  readonly makeDirectory: (path: string, options?: { readonly mode?: number }) => Effect.Effect<void, LocalFileFailed>
  /** Creates a private temporary directory for copies that a user views; the system cleans it up. */
  readonly temporaryDirectory: (prefix: string) => Effect.Effect<string, LocalFileFailed>
  /** Removes a file, a link, or a directory recursively; succeeds when nothing exists. */
  readonly remove: (path: string) => Effect.Effect<void, LocalFileFailed>
}>() {}
