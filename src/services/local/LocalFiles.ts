import { Context, type Effect, type Option, Schema, type Stream } from "effect"
import { cut } from "../../schema/words/quoted.ts"

/** Type of a directory entry; links are not followed. */
export type LocalKind = "file" | "directory" | "link" | "other"

/** A name in a local directory, and what it stands for. */
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

/** A part of a file: `bytes` of them from `offset` on, fewer where the file ends; all the rest without `bytes`. */
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

/** The files of the machine that Berth runs on. Paths are absolute; writes are atomic: a temporary file, then a rename. */
export class LocalFiles extends Context.Tag("berth/LocalFiles")<LocalFiles, {
  /** Entry at a path, links followed; none when nothing exists there. */
  readonly find: (path: string) => Effect.Effect<Option.Option<LocalEntry>, LocalFileFailed>
  /** The names in a directory, sorted, links reported as links: one look at the directory, and none at its files. */
  readonly names: (path: string) => Effect.Effect<ReadonlyArray<LocalName>, LocalFileFailed>
  /** The entries of a directory in the order of their names, links reported as links; each is looked at. */
  readonly list: (path: string) => Effect.Effect<ReadonlyArray<LocalEntry>, LocalFileFailed>
  /** The path with every link on the way resolved. */
  readonly realPath: (path: string) => Effect.Effect<string, LocalFileFailed>
  readonly read: (path: string) => Effect.Effect<Uint8Array, LocalFileFailed>
  /** The bytes of a file, or of a part of it, in chunks of 256 KiB. */
  readonly stream: (path: string, range?: FileRange) => Stream.Stream<Uint8Array, LocalFileFailed>
  /**
   * The same in chunks that are lent: each is good until the next one is asked for, and its memory is used again then.
   * Meant for what sends a big file and looks at its bytes once.
   */
  readonly lend: (path: string, range?: FileRange) => Stream.Stream<Uint8Array, LocalFileFailed>
  /** The sha256 of a file as lower-case hex, read as a stream. */
  readonly sha256: (path: string) => Effect.Effect<string, LocalFileFailed>
  /**
   * Replaces a file, or the one that a link leads to, or creates it. Without `mode` a file keeps its permissions; a
   * new one is 0644.
   */
  readonly write: (
    path: string,
    content: Uint8Array | string,
    options?: { readonly mode?: number }
  ) => Effect.Effect<void, LocalFileFailed>
  /** Creates a file unless the name is taken; answers whether it did. */
  readonly create: (
    path: string,
    content: Uint8Array | string,
    options?: { readonly mode?: number }
  ) => Effect.Effect<boolean, LocalFileFailed>
  /**
   * Writes a stream beside the path and moves it there when it is whole; a failure leaves no part of it. A link at the
   * path is replaced, not followed. Its permissions are 0644 when absent. Answers the bytes.
   */
  readonly save: <E>(
    path: string,
    content: Stream.Stream<Uint8Array, E>,
    options?: { readonly mode?: number }
  ) => Effect.Effect<number, LocalFileFailed | E>
  /** Creates a directory and what is missing above it. */
  readonly makeDirectory: (path: string) => Effect.Effect<void, LocalFileFailed>
  /** Creates a private directory for copies that a user views; the system clears it. */
  readonly temporaryDirectory: (prefix: string) => Effect.Effect<string, LocalFileFailed>
  /** Removes a file, a link, or a directory with all that is in it; nothing there is not a failure. */
  readonly remove: (path: string) => Effect.Effect<void, LocalFileFailed>
}>() {}
