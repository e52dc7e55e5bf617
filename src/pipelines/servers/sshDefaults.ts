import { Effect, Option } from "effect"
import { usualSshPort } from "../../schema/Server.ts"
import type { SshDefaults } from "../../schema/SshDefaults.ts"
import { LocalFiles } from "../../services/local/LocalFiles.ts"
import { SshClient, userKnownHost } from "../../services/ssh/client/SshClient.ts"
import { sshHost, type SshSetting, withTokens } from "../../services/ssh/client/sshConfig.ts"

const isPort = (text: string) => /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535

/** What `~/.ssh/config` and `known_hosts` of this machine's user say of a host, or of an alias. */
export const sshDefaults = Effect.fn("sshDefaults")(function*(
  { host: alias }: { readonly host: string }
): Effect.fn.Return<SshDefaults, never, LocalFiles> {
  const files = yield* LocalFiles
  const { directory, home, user } = yield* SshClient
  const { identityFiles, isNamed, unread, values } = yield* sshHost(home, directory, alias)
  const warnings = [...unread]
  const from: Array<SshDefaults["from"][number]> = []
  const taken = (field: SshDefaults["from"][number]["field"], { file, line }: SshSetting): void => {
    from.push({ field, file, line })
  }
  const leftOut = ({ file, line, value }: SshSetting): void => {
    warnings.push(`${file}:${line}: ${value} was left out`)
  }

  const hostName = values.get("hostname")
  const named = hostName === undefined ? Option.none() : withTokens(hostName.value, { h: alias })
  if (hostName !== undefined && Option.isSome(named)) taken("host", hostName)
  else if (hostName !== undefined) leftOut(hostName)
  const host = Option.getOrElse(named, () => alias)
  const written = values.get("port")
  const port = written !== undefined && isPort(written.value) ? Number(written.value) : null
  if (written !== undefined && port !== null) taken("port", written)
  else if (written !== undefined) leftOut(written)
  const remote = values.get("user")
  if (remote !== undefined) taken("username", remote)
  const username = remote?.value ?? user

  let privateKey: string | null = null
  for (const setting of identityFiles) {
    if (setting.value.toLowerCase() === "none") break
    const filled = withTokens(setting.value, {
      d: home,
      h: host,
      n: alias,
      r: username,
      u: user,
      p: String(port ?? 22)
    })
    const path = Option.map(
      filled,
      (text) => text.startsWith("~/") ? `${home}${text.slice(1)}` : text.startsWith("/") ? text : `${directory}/${text}`
    )
    if (Option.isNone(path)) leftOut(setting)
    else if (Option.isSome(yield* Effect.orElseSucceed(files.find(path.value), Option.none))) {
      privateKey = path.value
      taken("privateKey", setting)
      break
    }
  }
  const jump = [values.get("proxyjump"), values.get("proxycommand")].find((setting) =>
    setting !== undefined && setting.value.toLowerCase() !== "none"
  )
  const { keys } = yield* userKnownHost(host, port ?? usualSshPort)
  return {
    isNamed,
    host,
    port,
    username,
    privateKey,
    jump: jump === undefined ? null : jump.value.slice(0, 300),
    from,
    isKnown: keys.length > 0,
    warnings
  }
})
