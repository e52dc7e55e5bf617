import { Deferred } from "effect"
import type { ClientChannel } from "ssh2"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import { RemoteOutputTooLong } from "../../schema/servers/Ssh.ts"
import { keepLastBytes } from "../bytes/keepLastBytes.ts"
import { countAnswer, mebibyte, usualLimit } from "./AnswerLimit.ts"
import { pickServerFields } from "./connection/liveConnection.ts"
import type { RemoteCommand } from "./RemoteCommand.ts"

const keptStderr = 64 * 1024
/**
 * Only the end of stderr is kept, so the number of its lines is not limited. Output beyond this size is not an error
 * message.
 */
const stderrLimit = { ...usualLimit, bytes: 16 * mebibyte, records: Number.POSITIVE_INFINITY }

/**
 * Collects a command's output up to its limit; fails `tooLong` at once when it is exceeded.
 * @param keepLast number of last bytes of stdout to keep, for output of any length
 */
export const collectOutput = (
  server: ServerAccess,
  { limit = usualLimit, what }: RemoteCommand,
  channel: ClientChannel,
  tooLong: Deferred.Deferred<never, RemoteOutputTooLong>,
  keepLast?: number
) => {
  const stdout = keepLastBytes(keepLast ?? limit.bytes)
  const stderr = keepLastBytes(keptStderr)
  const countStdout = keepLast === undefined ? countAnswer(limit) : () => undefined
  const countStderr = countAnswer(stderrLimit)
  const stopAt = (passed: string | undefined, help: string) => {
    if (passed === undefined) return
    channel.off("data", takeStdout)
    channel.stderr.off("data", takeStderr)
    Deferred.unsafeDone(tooLong, new RemoteOutputTooLong({ ...pickServerFields(server), what, limit: passed, help }))
  }
  const takeStdout = (chunk: Uint8Array) => {
    stdout.add(chunk)
    stopAt(countStdout(chunk), limit.help)
  }
  const takeStderr = (chunk: Uint8Array) => {
    stderr.add(chunk)
    stopAt(countStderr(chunk), stderrLimit.help)
  }
  channel.on("data", takeStdout)
  channel.stderr.on("data", takeStderr)
  return { stdout, stderr }
}
