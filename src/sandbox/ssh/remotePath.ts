import { Effect } from "effect"
import { realpath } from "node:fs/promises"
import { dirname, isAbsolute, posix, relative, resolve } from "node:path"
import { SftpRefused } from "./SftpRefused.ts"

const onWindows = process.platform === "win32"

/** Converts a local path for the sandbox's shell and SFTP clients: on Windows `C:\x` is `/c/x`, as in Git's sh. */
export const toSandboxPath = (local: string): string =>
  onWindows
    ? local.replace(/^([A-Za-z]):/, (_, drive: string) => `/${drive.toLowerCase()}`).replaceAll("\\", "/")
    : local

const localPathOf = (remote: string): string =>
  onWindows ? remote.replace(/^\/([A-Za-z])(?=\/|$)/, (_, drive: string) => `${drive.toUpperCase()}:`) : remote

const isWithin = (root: string, path: string): boolean => {
  const way = relative(root, path)
  return way !== ".." && !way.startsWith("../") && !way.startsWith("..\\") && !isAbsolute(way)
}

/** Resolves the deepest existing ancestor of a path. */
const realPart = (path: string): Effect.Effect<string> =>
  Effect.tryPromise(() => realpath(path)).pipe(
    Effect.catchAll(() => dirname(path) === path ? Effect.succeed(path) : realPart(dirname(path)))
  )

/** Resolves an SFTP path to a local one; `follow` resolves a link at its end. */
export type ResolvePath = (path: string, follow: boolean) => Effect.Effect<string, SftpRefused>

/** Resolves paths from a home directory; `confined` rejects paths outside of it, also through links. */
export const makeResolvePath = (home: string, confined: boolean): ResolvePath => (path, follow) => {
  const local = posix.isAbsolute(path) ? resolve(localPathOf(path)) : resolve(home, path)
  if (!confined) return Effect.succeed(local)
  const refused = new SftpRefused({ code: "EACCES", reason: "Permission denied: outside the home directory" })
  if (!isWithin(home, local)) return Effect.fail(refused)
  return Effect.gen(function*() {
    const root = yield* realPart(home)
    const real = yield* realPart(follow || local === home ? local : dirname(local))
    return isWithin(root, real) ? local : yield* refused
  })
}
