import { Effect } from "effect"
import { parseReleases, releasesCommand, type RemoteRelease } from "../../remote/activation/releasesCommand.ts"
import { execute } from "../../remote/execute.ts"
import { ReleasesFailed } from "../../schema/deploy/Release.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { describeDockerRefusal } from "../servers/describeDockerRefusal.ts"

/** Releases of a remote path that the server keeps, newest first. */
export const readReleases = Effect.fn("readReleases")(function*(
  server: ServerAccess,
  remotePath: string
): Effect.fn.Return<ReadonlyArray<RemoteRelease>, ReleasesFailed, Ssh> {
  const { stdout } = yield* Effect.mapError(
    execute(server, releasesCommand(remotePath, server.useSudo)),
    ({ message }) =>
      new ReleasesFailed({ remotePath, server: server.name, reason: describeDockerRefusal(message, server) })
  )
  return parseReleases(stdout)
})
