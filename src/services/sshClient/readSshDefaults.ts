import { Effect, Option } from "effect"
import { jumpShape, parseJumpHosts } from "../../schema/servers/jumpHosts.ts"
import { usualSshPort } from "../../schema/servers/Server.ts"
import type { SshDefaults } from "../../schema/servers/SshDefaults.ts"
import { cut } from "../../schema/words/quoted.ts"
import { LocalFiles } from "../local/LocalFiles.ts"
import { readUserKnownHost, SshClient } from "./SshClient.ts"
import { readSshHost, type SshSetting, withTokens } from "./sshConfig.ts"

const isPort = (text: string) => /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535

/** Defaults for a host or alias from `~/.ssh/config` and `known_hosts` of this machine's user. */
export const readSshDefaults = Effect.fn("readSshDefaults")(function*(
  { host: alias }: { readonly host: string }
): Effect.fn.Return<SshDefaults, never, LocalFiles> {
  const files = yield* LocalFiles
  const client = yield* SshClient
  const { directory, home } = client
  const { identityFiles, isNamed, unread, values } = yield* readSshHost(home, directory, alias)
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
  const username = remote?.value ?? client.user

  let privateKey: string | null = null
  for (const setting of identityFiles) {
    if (setting.value.toLowerCase() === "none") break
    const filled = withTokens(setting.value, {
      d: home,
      h: host,
      n: alias,
      r: username,
      get u() {
        return client.user
      },
      p: String(port ?? usualSshPort)
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
  // The first one of ProxyJump and ProxyCommand applies.
  const [proxy] = [...values].filter(([keyword]) => keyword === "proxyjump" || keyword === "proxycommand")
  const proxied = proxy === undefined || proxy[1].value.toLowerCase() === "none" ? undefined : proxy
  const isJump = proxied?.[0] === "proxyjump"
  const jump = proxied === undefined || !isJump
    ? Option.none()
    : Option.filter(
      withTokens(proxied[1].value, { h: host, n: alias, r: username, p: String(port ?? usualSshPort) }),
      (text) => parseJumpHosts(text) !== undefined
    )
  if (proxied !== undefined && Option.isSome(jump)) taken("jump", proxied[1])
  // Without its jump hosts, the address may belong to another machine.
  const jumpRefused = proxied === undefined || !isJump || Option.isSome(jump)
    ? null
    : `${proxied[1].file}:${proxied[1].line}: ${cut(proxied[1].value)} ${jumpShape}`
  if (jumpRefused !== null) warnings.push(jumpRefused)
  const { keys } = yield* readUserKnownHost({ host, port: port ?? usualSshPort })
  return {
    isNamed,
    host,
    port,
    username,
    privateKey,
    jump: Option.getOrNull(jump),
    jumpRefused,
    proxyCommand: proxied === undefined || isJump ? null : proxied[1].value.slice(0, 300),
    from,
    isKnown: keys.length > 0,
    warnings
  }
})
