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
/** 200 Mbit/s in bytes per second: on a faster line the compression is what takes long. */
const fastLine = 25_000_000
const probes = 2
/** A probe that takes longer has measured enough. */
const probeTimeout = "5 seconds"

/** Sends bytes to a server, and answers the seconds that took. */
const secondsFor = (server: ServerAccess, bytes: number) =>
  Effect.map(
    Effect.timed(
      execute(server, drainCommand, { stdin: Stream.make(new Uint8Array(bytes)), timeout: probeTimeout })
    ),
    ([took]) => Duration.toSeconds(took)
  )

/**
 * Tells whether a line to a server is so slow that compression saves time, by sending at most 2 MiB. No other transfer may
 * be under way: it would take its part of the line, and of the channels.
 */
const isSlowLine = Effect.fn("deploy.isSlowLine")(function*(
  server: ServerAccess
): Effect.fn.Return<boolean, RemoteCommandFailed | SshError, Ssh> {
  // A command takes its time on the fastest line, too.
  const isSlow = Effect.zipWith(
    secondsFor(server, 1),
    secondsFor(server, probeSize),
    (command, probe) => probe - command > probeSize / fastLine
  ).pipe(Effect.catchTag("RemoteTimeout", () => Effect.succeed(true)))
  // A busy moment makes a fast line look slow.
  return yield* Effect.repeat(isSlow, { while: (slow) => slow, times: probes - 1 })
})

/** Below this many bytes a measurement takes longer than it can save. */
const smallest = 8_000_000

/** Tells whether a transfer arrives earlier when it is compressed on its way. */
export const shouldCompress = Effect.fn("deploy.shouldCompress")(function*(
  server: ServerAccess,
  transfer: Transfer,
  file: DeployFile | undefined
): Effect.fn.Return<boolean, never, LocalFiles | Ssh> {
  if (computeTransferSize(transfer, file) < smallest) return false
  // The line is measured only where that decides. Errors of the file or the line show when it is sent.
  return yield* isCompressible(transfer, file).pipe(
    Effect.flatMap((is) => is ? isSlowLine(server) : Effect.succeed(false)),
    Effect.orElseSucceed(() => false)
  )
})
