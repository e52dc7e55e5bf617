import { Either, Schema } from "effect"

/** Normalizes a path: no doubled, dotted or trailing slashes. */
export const normalizeRemotePath = (path: string): string =>
  path.split("/").filter((segment, index) => index === 0 || (segment !== "" && segment !== ".")).join("/")

const longestPath = 4096
const loneSurrogate = /\p{Surrogate}/u

// Checks the normalized path, because the home and the root have many spellings (`~/.`, `//`).
const problem = (path: string): string | undefined => {
  if (/[\0\r\n]/.test(path)) return "must not contain a line break or NUL"
  // UTF-8 cannot encode it, so the server would receive another name.
  if (loneSurrogate.test(path)) return "must not contain half a surrogate pair"
  if (new TextEncoder().encode(path).length > longestPath) return "must not be longer than 4 KiB"
  if (!path.startsWith("/") && !path.startsWith("~/")) return "must be absolute on the server, or start with ~/"
  if (path.split("/").includes("..")) return "must not contain \"..\""
  const normal = normalizeRemotePath(path)
  return normal === "" || normal === "~" ? "must name a directory below / or ~" : undefined
}

const documented = {
  identifier: "RemotePath",
  description:
    "A path on the server: absolute, or below the user's home as ~/…; without \"..\", line breaks and NUL, " +
    "and of at most 4 KiB."
}

/** A directory or file on a server: absolute, or below the home of the server's user as `~/…`. */
export const RemotePath = Schema.String.pipe(Schema.filter((path) => problem(path) ?? true)).annotations(documented)

/** Remote path in a request body; validated later, so that an unknown server is reported first. */
export const RemotePathText = Schema.String.annotations(documented)

/** A field of a request is not a valid remote path. */
export class RemotePathInvalid extends Schema.TaggedError<RemotePathInvalid>()("RemotePathInvalid", {
  field: Schema.String,
  reason: Schema.String
}) {
  readonly status = 400
  override get message() {
    return `${this.field} ${this.reason}`
  }
}

const accepted = (
  field: string,
  path: string,
  reason: string | undefined
): Either.Either<string, RemotePathInvalid> =>
  reason === undefined
    ? Either.right(normalizeRemotePath(path))
    : Either.left(new RemotePathInvalid({ field, reason }))

/** Validates and normalizes the remote path in a field of a request. */
export const parseRemotePath = (field: string, path: string) => accepted(field, path, problem(path))

/**
 * Validates and normalizes the directory of a stack that is written to; `.berth`, the directory of a stack's releases,
 * is refused.
 */
export const parseStackPath = (field: string, path: string) =>
  accepted(
    field,
    path,
    problem(path) ??
      (path.split("/").includes(".berth")
        ? "must not lead into \".berth\", where Berth keeps the releases of a stack"
        : undefined)
  )
