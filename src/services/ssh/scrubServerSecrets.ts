import type { ServerAccess } from "../../schema/servers/Server.ts"
import { scrubText } from "../secrets/scrubText.ts"
import { listServerSecrets } from "../secrets/secretsInUse.ts"
import type { RemoteExit } from "./Ssh.ts"

/**
 * The exit of a command without the secrets of its server in what will be shown: stderr, and stdout of a command that
 * failed. The stdout of one that succeeded is data, byte for byte.
 */
export const scrubServerSecrets = (server: ServerAccess, exit: RemoteExit): RemoteExit => {
  const secrets = listServerSecrets(server)
  const shown = (text: string) => scrubText(text, secrets, { cut: exit.truncated === true })
  return { ...exit, stderr: shown(exit.stderr), ...(exit.code === 0 ? {} : { stdout: shown(exit.stdout) }) }
}
