import type { ServerAccess } from "../../schema/servers/Server.ts"
import { scrubText } from "../secrets/scrubText.ts"
import { listServerSecrets } from "../secrets/secretsInUse.ts"
import type { RemoteExit } from "./Ssh.ts"

/**
 * Removes the secrets of a server from the output that is displayed: stderr, and stdout of a failed command. The stdout
 * of a successful command is data and stays unchanged.
 */
export const scrubServerSecrets = (server: ServerAccess, exit: RemoteExit): RemoteExit => {
  const secrets = listServerSecrets(server)
  const shown = (text: string) => scrubText(text, secrets, { cut: exit.truncated === true })
  return { ...exit, stderr: shown(exit.stderr), ...(exit.code === 0 ? {} : { stdout: shown(exit.stdout) }) }
}
