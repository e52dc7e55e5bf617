import { NodeContext } from "@effect/platform-node"
import { Effect, Layer, Schedule } from "effect"
import { ConnectionsLive } from "../../../src/services/ssh/Connections.ts"
import { type Sftp, SftpLive } from "../../../src/services/ssh/Sftp.ts"
import type { RemoteCommand, Ssh } from "../../../src/services/ssh/Ssh.ts"
import { SshLive } from "../../../src/services/ssh/SshLive.ts"
import { hostKeysTest } from "../../../src/testing/SshTest.ts"

/** Commands and file transfer over connections of their own, with host keys in memory. */
export const liveSsh = (knownHosts = ""): Layer.Layer<Ssh | Sftp> =>
  Layer.fresh(
    Layer.mergeAll(SshLive, SftpLive).pipe(
      Layer.provide(ConnectionsLive),
      Layer.provide(hostKeysTest(knownHosts)),
      Layer.provide(NodeContext.layer)
    )
  )

/** A command without sudo, arguments and input but those given. */
export const command = (script: string, fields: Partial<RemoteCommand> = {}): RemoteCommand => ({
  what: "testing",
  script,
  args: [],
  sudo: false,
  ...fields
})

/** Looks again, for five seconds, until a value fits: logs and processes follow a little later. */
export const eventually = <A>(what: Effect.Effect<A>, fits: (value: A) => boolean) =>
  what.pipe(
    Effect.filterOrFail(fits, (value) => new Error(`still ${JSON.stringify(value)}`)),
    Effect.retry({ schedule: Schedule.spaced("50 millis"), times: 100 })
  )
