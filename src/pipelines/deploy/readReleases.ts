import { Effect } from "effect"
import { ReleasesFailed } from "../../schema/Release.ts"
import type { ServerAccess } from "../../schema/Server.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { execute } from "../remote/execute.ts"
import { parseReleases, releasesCommand, type RemoteRelease } from "../remote/releases.ts"
import { dockerHelp } from "../servers/dockerHelp.ts"

/** The releases of a remote path as the server has them, newest first. */
export const readReleases = Effect.fn("readReleases")(function*(
  server: ServerAccess,
  remotePath: string
): Effect.fn.Return<ReadonlyArray<RemoteRelease>, ReleasesFailed, Ssh> {
  const { stdout } = yield* Effect.mapError(
    execute(server, releasesCommand(remotePath, server.useSudo)),
    ({ message }) => new ReleasesFailed({ remotePath, server: server.name, reason: dockerHelp(message, server) })
  )
  return parseReleases(stdout)
})
