import { Effect, Option } from "effect"
import { parseReceived, uploadCommand } from "../../remote/deploy/uploadCommand.ts"
import { makeCommandFailed } from "../../remote/execute.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import { hashStream } from "../../services/bytes/sha256.ts"
import { LocalFiles } from "../../services/local/LocalFiles.ts"
import { type ByteCount, countBytes } from "../../services/runs/events/countBytes.ts"
import { Ssh } from "../../services/ssh/Ssh.ts"
import { type DeployFile, sumFileSizes } from "../projects/deployFiles.ts"

// Three concurrent uploads leave a channel for the lock.
const uploadsAtOnce = 3

/** Uploads one file to its temporary path and verifies its size and sha256 on the server. */
const uploadFile = (server: ServerAccess, remotePath: string, file: DeployFile, count: ByteCount) =>
  Effect.gen(function*() {
    const ssh = yield* Ssh
    const files = yield* LocalFiles
    const command = uploadCommand(remotePath, file.name, file.mode)
    const { bytes, sha256 } = yield* hashStream(files.lend(file.path))
    const answer = yield* ssh.exec(server, command, { stdin: count.passing(bytes), timeout: "6 hours" })
    const failed = (words: string) => makeCommandFailed(server, command, answer.code, words)
    if (answer.code !== 0) return yield* failed(answer.stderr)
    const arrived = parseReceived(answer.stdout)
    const sent = yield* sha256
    if (!Option.exists(arrived, (received) => received.sha256 === sent && received.bytes === file.size)) {
      return yield* failed(`${file.name} did not arrive as it was sent, or changed while it was: deploy again`)
    }
  }).pipe(Effect.withSpan("deploy.uploadFile", { attributes: { name: file.name, bytes: file.size } }))

/**
 * Uploads files to temporary paths, from where the activation moves them. Skips files whose hash the server already
 * has.
 * @param known sha256 of the files on the server, by name
 * @returns the files that were sent
 */
export const uploadFiles = Effect.fn("deploy.upload")(function*(
  server: ServerAccess,
  remotePath: string,
  files: ReadonlyArray<DeployFile>,
  known: ReadonlyMap<string, string>
) {
  const local = yield* LocalFiles
  const count = yield* countBytes("upload", sumFileSizes(files))
  const sent = yield* Effect.forEach(files, (file) =>
    Effect.gen(function*() {
      const remote = known.get(file.name)
      if (remote !== undefined && remote === (yield* local.sha256(file.path))) {
        yield* count.spare(file.size)
        return []
      }
      yield* uploadFile(server, remotePath, file, count)
      return [file]
    }), { concurrency: uploadsAtOnce })
  return sent.flat()
})
