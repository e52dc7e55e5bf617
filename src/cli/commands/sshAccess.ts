import { Effect, Option, Redacted } from "effect"
import { stat } from "node:fs/promises"
import { Berth } from "../../client/Berth.ts"
import { normalizeJumpList, type Server, ServerTaken, type ShownHostKey } from "../../schema/servers.ts"
import type { SshDefaults } from "../../schema/ssh.ts"
import { quoteInput } from "../../schema/words.ts"
import { suggestCommand } from "../options.ts"
import { confirm, escapeInline, Failed, quoteShellWord, Screen, Usage } from "../output.ts"
import { flagOption, type Input, integerOption, textOption } from "../parse.ts"
import { absolute } from "../stackLocation.ts"

/** User, host, port and key of an SSH log-in: the given address, completed from `~/.ssh/config`. */
interface SshAddress {
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
const resolveSshAddress = (address: string, wantsKey: boolean, wantsJump: boolean) =>
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

/** Part of the help of commands that log in. */
export const passwords =
  "Passwords come from the environment, since other users see command lines: BERTH_SSH_PASSWORD, " +
  "BERTH_SUDO_PASSWORD, BERTH_KEY_PASSPHRASE."

/** SSH log-in options. */
export const access = {
  key: textOption("key", "A private key file.", { value: "file", names: "file" }),
  agent: flagOption("agent", "Log in with the keys of the SSH agent."),
  sudo: flagOption("sudo", "Docker and files need sudo there."),
  jump: textOption("jump", "The jump hosts to connect through, as ssh -J takes them; none with an empty text.", {
    value: "[user@]host[:port]"
  }),
  port: integerOption("port", "The SSH port; 22 unless given.", { value: "port" })
}

type AccessOptions = Input<typeof access>

/** Reads a credential from the environment: other users see command lines. */
const fromEnvironment = (name: string) =>
  Option.getOrUndefined(Option.map(Option.fromNullable(process.env[name]), (secret) => Redacted.make(secret)))

const secrets = () => ({
  password: fromEnvironment("BERTH_SSH_PASSWORD"),
  sudoPassword: fromEnvironment("BERTH_SUDO_PASSWORD"),
  passphrase: fromEnvironment("BERTH_KEY_PASSPHRASE")
})

/**
 * Fields of a stored server that the options override, with the passwords from the environment; none without options.
 */
export const buildServerOverrides = ({ agent, jump, key, port, sudo }: AccessOptions) => {
  const given = {
    ...(agent ? { agent } : {}),
    ...(sudo ? { useSudo: true } : {}),
    ...(Option.isSome(jump) ? { jump: normalizeJumpList(jump.value) } : {}),
    ...(Option.isSome(key) ? { privateKey: absolute(key.value) } : {}),
    ...(Option.isSome(port) ? { port: port.value } : {})
  }
  return Object.keys(given).length === 0 ? Option.none() : Option.some({ ...secrets(), ...given })
}

/** Says that a key file is not on this machine; the service may run on another one. */
const noteMissing = (file: string) =>
  Effect.gen(function*() {
    const { say } = yield* Screen
    const isThere = yield* Effect.promise(() => stat(file).then(() => true, () => false))
    if (!isThere) yield* say(`! There is no key file ${escapeInline(file)} on this machine.`)
  })

/** Builds the fields of a server from an address, the options and the SSH configuration. */
export const buildServerInput = (address: string, { agent, jump, key, port, sudo }: AccessOptions) =>
  Effect.gen(function*() {
    const environment = secrets()
    const wantsKey = Option.isNone(key) && !agent && environment.password === undefined
    const found = yield* resolveSshAddress(address, wantsKey, Option.isNone(jump))
    const given = Option.orElse(port, () => found.port)
    const keyFile = Option.getOrUndefined(Option.map(key, absolute))
    if (keyFile !== undefined) yield* noteMissing(keyFile)
    if (Option.isSome(given) && (given.value < 1 || given.value > 65_535)) {
      return yield* new Usage({ message: `The port must be a whole number from 1 to 65535, not ${given.value}` })
    }
    return {
      isKnown: found.isKnown,
      server: {
        username: found.username,
        host: found.host,
        useSudo: sudo,
        port: Option.getOrUndefined(given),
        jump: Option.getOrElse(Option.map(jump, normalizeJumpList), () => found.jump ?? undefined),
        ...environment,
        privateKey: keyFile ?? found.privateKey ?? undefined,
        agent: agent ? true : undefined
      }
    }
  })

/** Confirmed fingerprint of a host key, and the stored one that it replaces. */
interface ConfirmedKey {
  readonly hostKey?: string | undefined
  readonly replacesHostKey?: string | undefined
}

/** Server whose host key is fetched. */
interface Asked {
  readonly name: string
  readonly host: string
  readonly port?: number | undefined
  readonly username: string
  readonly jump?: string | null | undefined
}

/** Describes the change of a host key or, if its key is stored for other routes, that of a server's route. */
const describeChange = (host: string, { fingerprint, remembered, route, type }: typeof ShownHostKey.Type) => {
  const keys = [
    `  stored: ${escapeInline(remembered ?? "")}`,
    `  new:    ${escapeInline(fingerprint)} (${escapeInline(type)})`
  ]
  const compare = "compare the new one with what ssh-keygen -lf prints on the server of the key's file in /etc/ssh."
  return route === undefined
    ? [
      `The host key of ${escapeInline(host)} has changed:`,
      ...keys,
      `Another machine may answer in its place: ${compare}`
    ]
    : [
      `The route to ${escapeInline(host)} has changed:`,
      `  stored: ${escapeInline(route.remembered)}`,
      `  now:    ${escapeInline(route.now)}`,
      "Its host key:",
      ...keys,
      `Its credentials would go on the new route, which ~/.ssh/config may have changed too. Where the keys differ, ${compare}`
    ]
}

/**
 * Shows a changed host key or route beside the one that Berth stores and asks whether to accept it; "no" yields `refused`.
 * Yields nothing if both are unchanged, the other key is in known_hosts, or there is no terminal.
 */
export const askToReplace = (host: string, shown: typeof ShownHostKey.Type) =>
  Effect.gen(function*() {
    const { canAsk, say } = yield* Screen
    const stored = /SHA256:[A-Za-z0-9+/]{43}/.exec(shown.remembered ?? "")?.[0]
    if (!canAsk || shown.rememberedIn !== "berth" || stored === undefined) return undefined
    yield* say(describeChange(host, shown).join("\n"))
    const question = shown.route === undefined ? "Replace the stored host key?" : "Accept the new route?"
    if (!(yield* confirm(question, false))) return "refused" as const
    const replaced: ConfirmedKey = { hostKey: shown.fingerprint, replacesHostKey: stored }
    return replaced
  })

/** Shows the key of a server that nobody has compared, and asks whether it is that server's. Called on a terminal. */
export const askIfOwn = (host: string, { fingerprint, type }: typeof ShownHostKey.Type) =>
  Effect.gen(function*() {
    const { say } = yield* Screen
    yield* say(
      `${escapeInline(host)} shows the host key ${escapeInline(fingerprint)} (${
        escapeInline(type)
      }), which is new here. ` +
        compareNewKey
    )
    return yield* confirm("Is that its key?", false)
  })

/** Advice for a new host key. */
export const compareNewKey =
  "Compare it with what ssh-keygen -lf prints on the server of the key's file in /etc/ssh (ssh_host_*_key.pub)."

/**
 * Host key to store with a server: the given one, else the one that known_hosts confirms, else on a terminal the one that
 * the user confirms. Asks there before it replaces a stored one. The server shows its key without receiving credentials.
 */
export const resolveHostKey = (
  { host, jump, name, port, username }: Asked,
  { given, isKnown }: { readonly given: string | undefined; readonly isKnown: boolean }
) =>
  Effect.gen(function*() {
    const { canAsk, say } = yield* Screen
    const asIs: ConfirmedKey = { hostKey: given }
    if (!canAsk && (given !== undefined || !isKnown)) return asIs
    const payload = { name, host, port, username, jump, useSudo: false }
    const { hostKey: shown, logIn } = yield* (yield* Berth).use((api) => api.testServer({ payload }))
    if (shown === null) {
      if (given === undefined) {
        yield* say(`Its host key was not compared. ${escapeInline(logIn.detail)}`)
      }
      return asIs
    }
    const replaced = given === undefined || given === shown.fingerprint ? yield* askToReplace(host, shown) : undefined
    if (replaced !== undefined) return replaced
    if (given !== undefined) return asIs
    if (shown.standing === "changed" && (shown.remembered ?? "") === "") {
      return yield* new Failed({ message: `${escapeInline(logIn.detail)}. Nothing was stored` })
    }
    // Remembered at first sight is not compared: it stays as it is, and the settings require nothing.
    if (shown.standing === "known" && !isKnown) return asIs
    if (shown.standing === "new") {
      if (!canAsk) return asIs
      return (yield* askIfOwn(host, shown)) ? { hostKey: shown.fingerprint } satisfies ConfirmedKey : "refused" as const
    }
    if (shown.standing === "changed") {
      return yield* new Failed({
        message:
          `${host} shows the host key ${shown.fingerprint}, and known is ${shown.remembered ?? "another one"}: ` +
          "nothing was stored. Compare both with what the server says; if it was reinstalled, remove the old key with " +
          "ssh-keygen -R, or confirm the new one with --host-key"
      })
    }
    yield* say(`Its host key ${shown.fingerprint} is the one that is known.`)
    return { hostKey: shown.fingerprint } satisfies ConfirmedKey
  })

/** Parsed values of `berth server add` that a suggested command repeats. */
interface AddInput extends Input<typeof access> {
  readonly name: string
  readonly address: Option.Option<string>
  readonly hostKey: Option.Option<string>
  readonly replacesHostKey: Option.Option<string>
  readonly dryRun: boolean
}

/**
 * Writes the command out with an id. A replacement takes over neither the port nor sudo from the stored server.
 * @param more words of further options
 */
const repeatWithId = (input: AddInput, id: string, more: ReadonlyArray<string>) => {
  const option = (name: string, value: Option.Option<string | number>) =>
    Option.match(value, { onNone: () => [], onSome: (value) => [`--${name} ${quoteShellWord(String(value))}`] })
  return suggestCommand([
    "berth server add",
    quoteShellWord(input.name),
    ...Option.toArray(Option.map(input.address, quoteShellWord)),
    `--id ${quoteShellWord(id)}`,
    ...option("key", input.key),
    ...input.agent ? ["--agent"] : [],
    ...input.sudo ? ["--sudo"] : [],
    ...option("jump", input.jump),
    ...option("port", input.port),
    ...option("host-key", input.hostKey),
    ...option("replaces-host-key", input.replacesHostKey),
    ...input.dryRun ? ["--dry-run"] : [],
    ...more
  ].join(" "))
}

/**
 * Finds the stored server that has the name of a new one, and asks on a terminal whether to replace it; "no" yields
 * `refused`. Fails without a terminal and for a dry run. An ambiguous name is left to the service, which refuses it.
 */
export const askToReplaceNamed = (input: AddInput, servers: ReadonlyArray<Server>) =>
  Effect.gen(function*() {
    const { canAsk, say } = yield* Screen
    const name = input.name.toLowerCase()
    const [taken, ...others] = servers.filter((server) => server.name.toLowerCase() === name)
    if (taken === undefined || others.length > 0) return undefined
    const { host, id, jump, port, username } = taken
    if (!canAsk || input.dryRun) {
      const { message } = new ServerTaken({ what: "name", wanted: input.name, by: { id, name: taken.name } })
      return yield* new Failed({ message: `${message}: ${yield* repeatWithId(input, id, [])}` })
    }
    const through = jump === undefined ? "" : ` through ${jump}`
    const isKept = jump !== undefined && Option.isNone(input.jump)
    yield* say(
      escapeInline(
        `The server ${taken.name} is stored already, with the id ${id}: ${username}@${host}:${port}${through}.` +
          (isKept ? " It stays behind these jump hosts unless --jump names others." : "")
      )
    )
    return (yield* confirm("Replace it?", false)) ? taken : "refused" as const
  })

/** Fields of a server to store that let Berth log in, and those that decide whether stored credentials are kept. */
interface LogIn {
  readonly jump?: string | null | undefined
  readonly agent?: boolean | undefined
  readonly password?: unknown
  readonly privateKey?: string | undefined
}

/**
 * Describes that a server was stored without any credential; undefined if it has one. A replacement keeps those of the
 * same log-in, which the service does not show.
 */
export const describeMissingCredential = (
  input: AddInput,
  { agent, jump, password, privateKey }: LogIn,
  { host, id, name, port, username }: Server,
  replaced: Server | undefined
) =>
  Effect.gen(function*() {
    if (agent === true || password !== undefined || privateKey !== undefined) return undefined
    const isKept = replaced !== undefined && replaced.host === host && replaced.port === port &&
      replaced.username === username && (jump === undefined || (jump ?? undefined) === replaced.jump)
    if (isKept) return undefined
    return `No credential of ${escapeInline(name)} is stored, so Berth cannot log in to it yet. Add it again with ` +
      "--key, --agent or the variable BERTH_SSH_PASSWORD: " +
      (yield* repeatWithId(input, id, ["--key ~/.ssh/id_ed25519"]))
  })
