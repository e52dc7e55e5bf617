import { Either, Schema } from "effect"

const problem = (path: string): string | undefined => {
  if (/[\0\r\n]/.test(path)) return "must not contain a line break or NUL"
  if (new TextEncoder().encode(path).length > 4096) return "must not be longer than 4 KiB"
  if (!path.startsWith("/") && !path.startsWith("~/")) return "must be absolute on the server, or start with ~/"
  if (path.split("/").includes("..")) return "must not contain \"..\""
  return path.replace(/(?<!\/)\/+$/, "").replace(/^~$/, "") === "" ? "must name a directory below / or ~" : undefined
}

const documented = {
  identifier: "RemotePath",
  description:
    "A path on the server: absolute, or below the user's home as ~/…; without \"..\", line breaks and NUL, " +
    "and of at most 4 KiB."
}

/** A directory or file on a server: absolute, or below the home of the server's user as `~/…`. */
export const RemotePath = Schema.String.pipe(Schema.filter((path) => problem(path) ?? true)).annotations(documented)

/** The same as a request brings it: an unknown server is told before a path that does not fit. */
export const RemotePathText = Schema.String.annotations(documented)

/** A field of a request that is not a path on a server. */
export class RemotePathInvalid extends Schema.TaggedError<RemotePathInvalid>()("RemotePathInvalid", {
  field: Schema.String,
  reason: Schema.String
}) {
  readonly status = 400
  override get message() {
    return `${this.field} ${this.reason}`
  }
}

/** One spelling for one directory: no doubled, dotted or trailing slashes. */
export const normalRemotePath = (path: string): string =>
  path.split("/").filter((segment, index) => index === 0 || (segment !== "" && segment !== ".")).join("/")

/** The path that a field of a request holds, in its one spelling. */
export const remotePathIn = (field: string, path: string): Either.Either<string, RemotePathInvalid> => {
  const reason = problem(path)
  return reason === undefined
    ? Either.right(normalRemotePath(path))
    : Either.left(new RemotePathInvalid({ field, reason }))
}
