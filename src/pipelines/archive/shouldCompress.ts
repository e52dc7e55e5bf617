import { Duration, Effect, Stream } from "effect"
import { drainCommand } from "../../remote/deploy/drainCommand.ts"
import { execute } from "../../remote/execute.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import type { RemoteCommandFailed, SshError } from "../../schema/servers/Ssh.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import type { DeployFile } from "../projects/deployFiles.ts"
import { isCompressible } from "./isCompressible.ts"
import { computeTransferSize, type Transfer } from "./transfer.ts"

const probeSize = 1024 * 1024
/** 200 Mbit/s in bytes per second; on a faster line, compression is the bottleneck. */
const fastLine = 25_000_000
const probes = 2
/** A probe that takes longer has measured enough. */
const probeTimeout = "5 seconds"

/** Sends bytes to a server; returns the seconds that took. */
const secondsFor = (server: ServerAccess, bytes: number) =>
  Effect.map(
    Effect.timed(
      execute(server, drainCommand, { stdin: Stream.make(new Uint8Array(bytes)), timeout: probeTimeout })
    ),
    ([took]) => Duration.toSeconds(took)
  )

/**
 * Checks whether the line to a server is slow enough for compression to save time, by sending at most 2 MiB. Must not
 * run beside another transfer, which would distort the result and take channels.
 */
const isSlowLine = Effect.fn("deploy.isSlowLine")(function*(
  server: ServerAccess
): Effect.fn.Return<boolean, RemoteCommandFailed | SshError, Ssh> {
  // Subtracts the duration of the command itself.
  const isSlow = Effect.zipWith(
    secondsFor(server, 1),
    secondsFor(server, probeSize),
    (command, probe) => probe - command > probeSize / fastLine
  ).pipe(Effect.catchTag("RemoteTimeout", () => Effect.succeed(true)))
  // Repeats a slow result, because a busy moment makes a fast line look slow.
  return yield* Effect.repeat(isSlow, { while: (slow) => slow, times: probes - 1 })
})

/** Transfers below this size in bytes take less time than the measurement can save. */
const smallest = 8_000_000

/** Checks whether a transfer arrives earlier when it is compressed on the way. */
export const shouldCompress = Effect.fn("deploy.shouldCompress")(function*(
  server: ServerAccess,
  transfer: Transfer,
  file: DeployFile | undefined
): Effect.fn.Return<boolean, never, LocalFiles | Ssh> {
  if (computeTransferSize(transfer, file) < smallest) return false
  // Measures the line only if the result matters. Errors of the file or the line surface when it is sent.
  return yield* isCompressible(transfer, file).pipe(
    Effect.flatMap((is) => is ? isSlowLine(server) : Effect.succeed(false)),
    Effect.orElseSucceed(() => false)
  )
})
