import { Effect } from "effect"
import { portOpenCommand } from "../../remote/server/portOpenCommand.ts"
import type { SshError } from "../../schema/servers/Ssh.ts"
import { Ssh } from "../../services/ssh/Ssh.ts"
import type { ProxyLocation } from "../routes/proxyLocation.ts"

/** Makes the proxy's server connect to a port; returns an exit code of `portOpenCommand`. */
export const tryPort = (
  { server }: Pick<ProxyLocation, "server">,
  address: string,
  port: number
): Effect.Effect<number | null, SshError, Ssh> =>
  Effect.gen(function*() {
    const command = portOpenCommand(address.replace(/^\[(.*)\]$/, "$1"), port)
    const { code } = yield* (yield* Ssh).exec(server, command, { timeout: "12 seconds" })
    return code
  })
