import { Effect, Option } from "effect"
import { Berth } from "../../client/Berth.ts"
import { quoted } from "../../schema/quoted.ts"
import type { SshDefaults } from "../../schema/SshDefaults.ts"
import { Failed, Usage } from "../Failure.ts"
import { safeText } from "../terminal/safeText.ts"
import { Screen } from "../terminal/Screen.ts"

/** Who to log in as, and where, with what `~/.ssh/config` adds to the words that were given. */
export interface Address {
  readonly username: string
  readonly host: string
  readonly port: Option.Option<number>
  readonly privateKey: string | null
  /** Whether known_hosts has a key of the host. */
  readonly isKnown: boolean
}

const names = { host: "host", port: "port", username: "user", privateKey: "key" } as const

const tell = (defaults: SshDefaults, used: (field: keyof typeof names) => boolean) =>
  Effect.gen(function*() {
    const { say } = yield* Screen
    const taken = defaults.from.filter(({ field }) => used(field)).map(({ field, file, line }) =>
      `${names[field]} ${String(defaults[field])} (${file}:${line})`
    )
    if (taken.length > 0) yield* say(safeText(`Taken from the SSH configuration: ${taken.join(", ")}`))
    for (const warning of defaults.warnings) yield* say(safeText(`Left out of the SSH configuration: ${warning}`))
  })

/** Reads an address like `ann@attic.example.com:2222`, `ann@attic` or `attic`, where `attic` may be a Host alias. */
export const sshAddress = (address: string, wantsKey: boolean) =>
  Effect.gen(function*() {
    const [, user, host, written] = /^(?:([^@\s:/]+)@)?(\[[^\]]+\]|[^:/\s@]+)(?::(\d{1,5}))?$/.exec(address) ?? []
    const shape = "The address must be like deployer@main.example.com, with a user, or a Host of ~/.ssh/config"
    if (host === undefined) return yield* new Usage({ message: shape })
    const alias = host.replace(/^\[(.*)\]$/, "$1")
    const defaults = yield* (yield* Berth).use((api) => api.sshDefaults({ urlParams: { host: alias } }))
    if (user === undefined && !defaults.isNamed) {
      return yield* new Usage({ message: `${shape}: no Host section there names ${quoted(alias)}` })
    }
    if (defaults.jump !== null) {
      return yield* new Failed({
        message:
          `~/.ssh/config reaches ${quoted(alias)} through ${quoted(defaults.jump)} (ProxyJump or ProxyCommand), ` +
          "and Berth connects to servers directly alone: nothing was stored. Run Berth on a machine that reaches the " +
          "server directly, or forward a port to it and give the address of that port"
      })
    }
    const isPort = written === undefined
    yield* tell(
      defaults,
      (field) => field === "username" ? user === undefined : field === "port" ? isPort : field === "host" || wantsKey
    )
    const given: Address = {
      username: user ?? defaults.username,
      host: defaults.host,
      port: isPort ? Option.fromNullable(defaults.port) : Option.some(Number(written)),
      privateKey: wantsKey ? defaults.privateKey : null,
      isKnown: defaults.isKnown
    }
    return given
  })
