import { Schema } from "effect"

const problem = (path: string): string | undefined => {
  if (/[\0\r\n]/.test(path)) return "must not hold a line break or NUL"
  if (new TextEncoder().encode(path).length > 4096) return "must not be longer than 4 KiB"
  if (!path.startsWith("/") && !path.startsWith("~/")) return "must be absolute on the server, or start with ~/"
  if (path.split("/").includes("..")) return "must not hold a \"..\""
  return path.replace(/\/+$/, "").replace(/^~$/, "") === "" ? "must name a directory below / or ~" : undefined
}

/** A directory on a server: absolute, or below the home of the server's user as `~/…`. */
export const RemotePath = Schema.String.pipe(
  Schema.filter((path) => problem(path) ?? true),
  Schema.annotations({
    identifier: "RemotePath",
    description: "A path on the server: absolute, or below the user's home as ~/…"
  })
)

/** One spelling for one directory: no doubled, dotted or trailing slashes. */
export const normalRemotePath = (path: string): string =>
  path.split("/").filter((segment, index) => index === 0 || (segment !== "" && segment !== ".")).join("/")
