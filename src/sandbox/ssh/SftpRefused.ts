import { Data, Effect, Predicate } from "effect"

/** An SFTP request that fails: the system's error code, and words for the client. */
export class SftpRefused extends Data.TaggedError("SftpRefused")<{
  readonly code: string
  readonly reason: string
}> {}

/** A failed file system call, as OpenSSH would word it where it has words. */
const refusedBy = (cause: unknown): SftpRefused => {
  const code = Predicate.hasProperty(cause, "code") && typeof cause.code === "string" ? cause.code : "EIO"
  const reason = code === "ENOENT"
    ? "No such file"
    : code === "EACCES" || code === "EPERM"
    ? "Permission denied"
    : `Failure: ${cause instanceof Error ? cause.message : code}`
  return new SftpRefused({ code, reason })
}

/** Makes a file system call. */
export const attempt = <A>(call: () => Promise<A>): Effect.Effect<A, SftpRefused> =>
  Effect.tryPromise({ try: call, catch: refusedBy })
