import { Effect, Option } from "effect"
import { Berth } from "../../../client/Berth.ts"
import type { SshDefaults } from "../../../schema/servers/SshDefaults.ts"
import { quoteInput } from "../../../schema/words/quoted.ts"
import { Failed, Usage } from "../../terminal/commandErrors.ts"
import { escapeInline } from "../../terminal/safeText.ts"
import { Screen } from "../../terminal/Screen.ts"

/** User, host, port and key of an SSH log-in: the given address, completed from `~/.ssh/config`. */
export interface SshAddress {
  readonly username: string
  readonly host: string
  readonly port: Option.Option<number>
  readonly privateKey: string | null
  readonly jump: string | null
  /** True if known_hosts has a key of the host. */
  readonly isKnown: boolean
}

const names = { host: "host", port: "port", username: "user", privateKey: "key", jump: "jump" } as const

const printDefaults = (defaults: SshDefaults, used: (field: keyof typeof names) => boolean) =>
  Effect.gen(function*() {
    const { say } = yield* Screen
    const applied = defaults.from.filter(({ field }) => used(field)).map(({ field, file, line }) =>
      `${names[field]} ${String(defaults[field])} (${file}:${line})`
    )
    if (applied.length > 0) yield* say(escapeInline(`Taken from the SSH configuration: ${applied.join(", ")}`))
    for (const warning of defaults.warnings) yield* say(escapeInline(`Left out of the SSH configuration: ${warning}`))
  })

/** Reads an address like `ann@attic.example.com:2222`, `ann@attic` or `attic`, where `attic` may be a Host alias. */
export const resolveSshAddress = (address: string, wantsKey: boolean, wantsJump: boolean) =>
  Effect.gen(function*() {
    const [, user, host, written] = /^(?:([^@\s:/]+)@)?(\[[^\]]+\]|[^:/\s@]+)(?::(\d{1,5}))?$/.exec(address) ?? []
    const shape = "The address must be like deployer@main.example.com, with a user, or a Host of ~/.ssh/config"
    if (host === undefined) return yield* new Usage({ message: shape })
    const alias = host.replace(/^\[(.*)\]$/, "$1")
    const defaults = yield* (yield* Berth).use((api) => api.sshDefaults({ urlParams: { host: alias } }))
    if (user === undefined && !defaults.isNamed) {
      return yield* new Usage({ message: `${shape}: no Host section there names ${quoteInput(alias)}` })
    }
    // Jump hosts of the command line override the configuration, like `ssh -J`.
    if (wantsJump && defaults.jumpRefused !== null) {
      return yield* new Failed({
        message:
          `The ProxyJump of ${
            quoteInput(alias)
          } in ~/.ssh/config cannot be used: ${defaults.jumpRefused}. Nothing was ` +
          "stored: name the jump hosts with --jump"
      })
    }
    if (wantsJump && defaults.proxyCommand !== null) {
      return yield* new Failed({
        message:
          `~/.ssh/config reaches ${quoteInput(alias)} with the ProxyCommand ${
            quoteInput(defaults.proxyCommand)
          }, and ` +
          "Berth runs no programs to connect: nothing was stored. Reach it with ProxyJump or --jump, or forward a port to it and " +
          "give the address of that port"
      })
    }
    const isPort = written === undefined
    yield* printDefaults(
      defaults,
      (field) =>
        field === "host" || (field === "username" && user === undefined) || (field === "port" && isPort) ||
        (field === "privateKey" && wantsKey) || (field === "jump" && wantsJump)
    )
    const given: SshAddress = {
      username: user ?? defaults.username,
      host: defaults.host,
      port: isPort ? Option.fromNullable(defaults.port) : Option.some(Number(written)),
      jump: wantsJump ? defaults.jump : null,
      privateKey: wantsKey ? defaults.privateKey : null,
      isKnown: defaults.isKnown
    }
    return given
  })
