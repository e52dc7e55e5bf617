import { Data, Effect, Predicate } from "effect"

/** Failed SFTP request: the system's error code, and a message for the client. */
export class SftpRefused extends Data.TaggedError("SftpRefused")<{
  readonly code: string
  readonly reason: string
}> {}

/** Words a failed file system call as OpenSSH does. */
const refusedBy = (cause: unknown): SftpRefused => {
  const code = Predicate.hasProperty(cause, "code") && typeof cause.code === "string" ? cause.code : "EIO"
  const reason = code === "ENOENT"
    ? "No such file"
    : code === "EACCES" || code === "EPERM"
    ? "Permission denied"
    : `Failure: ${cause instanceof Error ? cause.message : code}`
  return new SftpRefused({ code, reason })
}

export const attemptFileCall = <A>(call: () => Promise<A>): Effect.Effect<A, SftpRefused> =>
  Effect.tryPromise({ try: call, catch: refusedBy })
