import { Effect, Layer, Stream } from "effect"
import type { Stats } from "ssh2"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import { RemoteFileFailed } from "../../schema/servers/Ssh.ts"
import { Connections } from "./Connections.ts"
import { Sftp, type SftpSession } from "./Sftp.ts"
import { listOpen, toRemoteKind } from "./sftpListing.ts"
import { pieceSize, readOpen } from "./sftpReading.ts"
import { makeSftpRequests, type SftpCallback, type SftpRequests } from "./sftpRequests.ts"

const nameOf = (path: string): string => path.replace(/(?<!\/)\/+$/, "").split("/").at(-1) ?? ""

/** Makes paths absolute; requests the server's home directory only once. */
const resolvePaths = ({ ask, place, sftp }: SftpRequests) => {
  // Not `Effect.cached`, which would cache an interruption of the first caller for all others.
  let knownHome: string | undefined
  const home = Effect.suspend(() =>
    knownHome === undefined
      ? Effect.tap(ask<string>("~", "finding", (answer) => sftp.realpath(".", answer)), (found) => {
        knownHome = found
      })
      : Effect.succeed(knownHome)
  )
  return (path: string) => {
    if (/[\0]/.test(path)) return new RemoteFileFailed({ ...place, path, reason: "a path must not contain NUL" })
    return path === "~" || path.startsWith("~/")
      ? Effect.map(home, (home) => `${home === "/" ? "" : home}${path.slice(1)}` || "/")
      : Effect.succeed(path)
  }
}

const makeSession = (requests: SftpRequests): SftpSession => {
  const { ask, sftp } = requests
  const resolve = resolvePaths(requests)
  const handleOf = (path: string, open: (absolute: string, answer: SftpCallback<Buffer>) => void) =>
    Effect.acquireRelease(
      Effect.flatMap(resolve(path), (absolute) => ask<Buffer>(path, "opening", (answer) => open(absolute, answer))),
      (handle) => Effect.ignore(ask<void>(path, "closing", (answer) => sftp.close(handle, (error) => answer(error))))
    )
  const opened = (path: string, flags: "r" | "wx", mode: number) =>
    handleOf(path, (absolute, answer) => sftp.open(absolute, flags, mode, answer))
  return {
    stat: (path) =>
      Effect.gen(function*() {
        const absolute = yield* resolve(path)
        const stats = yield* ask<Stats>(path, "looking at", (answer) => sftp.lstat(absolute, answer))
        return { name: nameOf(absolute), kind: toRemoteKind(stats), size: stats.size }
      }),
    list: (path) =>
      handleOf(path, (absolute, answer) => sftp.opendir(absolute, answer)).pipe(
        Effect.map((handle) => listOpen(requests, path, handle)),
        Stream.unwrapScoped
      ),
    read: (path) =>
      opened(path, "r", 0).pipe(
        Effect.flatMap((handle) => readOpen(requests, path, handle)),
        Stream.unwrapScoped
      ),
    writePrivate: (path, content) =>
      Effect.scoped(Effect.gen(function*() {
        const handle = yield* opened(path, "wx", 0o600)
        const bytes = Buffer.from(content)
        for (let offset = 0; offset < bytes.length; offset += pieceSize) {
          const length = Math.min(pieceSize, bytes.length - offset)
          yield* ask<void>(path, "writing", (answer) =>
            sftp.write(handle, bytes, offset, length, offset, (error) =>
              answer(error)))
        }
      }))
  }
}

/** Transfers files over the pooled connections. */
export const SftpLive: Layer.Layer<Sftp, never, Connections> = Layer.effect(
  Sftp,
  Effect.map(Connections, (connections) =>
    Sftp.of({
      session: Effect.fn("Sftp.session")((server: ServerAccess): ReturnType<Sftp["Type"]["session"]> =>
        Effect.map(makeSftpRequests(server, connections), makeSession)
      )
    }))
)
