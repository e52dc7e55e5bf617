import { Effect, Option } from "effect"
import { type Server, ServerTaken } from "../../schema/servers.ts"
import { suggestCommand } from "../options.ts"
import { confirm, escapeInline, Failed, quoteShellWord, Screen } from "../output.ts"
import type { Input } from "../parse.ts"
import type { access } from "./sshAccess.ts"

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
