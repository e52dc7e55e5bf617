import { Path } from "@effect/platform"
import { Array, Effect } from "effect"
import { LocalPathInvalid } from "../../schema/basics/LocalPath.ts"
import { type PullRequest, PullResult } from "../../schema/deploy/Pull.ts"
import type { PathOutside } from "../../schema/projects/Project.ts"
import type { RunFailure } from "../../schema/runs/runFailures.ts"
import { parseRemotePath, type RemotePathInvalid } from "../../schema/servers/RemotePath.ts"
import type { ServerUnresolved } from "../../schema/servers/Server.ts"
import type { SshError } from "../../schema/servers/Ssh.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import { pluralize } from "../../schema/words/pluralize.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import { makePullLock } from "../../services/locks/LockKey.ts"
import type { FileLocked } from "../../services/locks/Locks.ts"
import { countBytes } from "../../services/runs/events/countBytes.ts"
import { Runs } from "../../services/runs/Runs.ts"
import { executeStep } from "../../services/runs/Steps.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { Sftp } from "../../services/ssh/Sftp.ts"
import { permitPath } from "../projects/files/permitPath.ts"
import { pullItem } from "./pullItem.ts"

const itemsAtOnce = 2

const absolute = (path: Path.Path) => (localPath: string, index: number) =>
  path.isAbsolute(localPath) && !localPath.includes("\0")
    ? Effect.void
    : new LocalPathInvalid({ field: `files[${index}].localPath`, path: localPath, reason: "is not absolute" })

/**
 * Downloads files and directories of a server. An item that fails is listed in `errors`; the pull only fails if the
 * server cannot be reached.
 */
export const pull = Effect.fn("pull")(function*(
  { files, serverId }: PullRequest
): Effect.fn.Return<
  PullResult,
  | LocalPathInvalid
  | PathOutside
  | RemotePathInvalid
  | ServerUnresolved
  | SettingsError
  | SshError
  | FileLocked
  | RunFailure,
  Settings | Sftp | LocalFiles | Path.Path | Runs
> {
  const server = yield* (yield* Settings).server(serverId)
  const path = yield* Path.Path
  yield* Effect.forEach(
    files,
    ({ localPath, remotePath }, index) =>
      parseRemotePath(`files[${index}].remotePath`, remotePath).pipe(
        Effect.zipRight(absolute(path)(localPath, index)),
        Effect.zipRight(permitPath(localPath))
      ),
    {
      discard: true
    }
  )
  const program = Effect.gen(function*() {
    const session = yield* (yield* Sftp).session(server)
    const count = yield* countBytes("pull", 0)
    const outcomes = yield* Effect.forEach(files, (item) =>
      pullItem(session, item, count).pipe(
        Effect.catchAll(({ message }) =>
          Effect.flatMap(scrubSecrets(message), (error) => Effect.fail({ name: item.name, error }))
        ),
        Effect.either
      ), { concurrency: itemsAtOnce })
    const [errors, pulled] = Array.separate(outcomes)
    return { pulled, errors }
  }).pipe(Effect.scoped)
  return yield* (yield* Runs).run(
    {
      kind: "pull",
      key: makePullLock(server),
      subject: { serverId: server.id, serverName: server.name },
      request: { serverId: server.id, files },
      result: PullResult,
      afterRestart: "give up"
    },
    executeStep(
      "pull",
      program,
      ({ errors, pulled }) => `${pluralize(pulled.length, "item")}, ${pluralize(errors.length, "failure")}`
    )
  )
})
