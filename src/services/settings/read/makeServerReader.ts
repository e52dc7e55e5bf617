import { Array, Effect, Option, Struct } from "effect"
import { type Server, type ServerAccess, usualSshPort } from "../../../schema/servers/Server.ts"
import type { SettingsInvalid, SettingUnresolved } from "../../../schema/Settings.ts"
import type { Resolver } from "./resolvedValue.ts"
import { secretFields, serverFields, type StoredServer } from "./serverFields.ts"
import type { Decode, LocatedValue } from "./settingValue.ts"

type Read<A> = Effect.Effect<A, SettingUnresolved | SettingsInvalid>

/** An entry of `servers` with its index in the list, for error messages. */
export interface PlacedServer {
  readonly index: number
  readonly stored: StoredServer
}

/** Reads the entries of `servers`. */
export const makeServerReader = (resolver: Resolver) => {
  const read = <A>(
    { index }: PlacedServer,
    name: string,
    entry: LocatedValue,
    { decode }: { readonly decode: Decode<A> }
  ) => resolver.value(`servers[${index}].${name}`, entry, decode)

  const fieldsOf = (server: PlacedServer) => {
    const { host, jump, name, port, useSudo, username } = server.stored.fields
    return {
      name: read(server, "name", name, serverFields.name),
      host: read(server, "host", host, serverFields.host),
      port: port === undefined ? Effect.succeed(usualSshPort) : read(server, "port", port, serverFields.port),
      username: read(server, "username", username, serverFields.username),
      jump: jump === undefined ? Effect.succeed(null) : read(server, "jump", jump, serverFields.jump),
      useSudo: useSudo === undefined ? Effect.succeed(false) : read(server, "useSudo", useSudo, serverFields.useSudo)
    }
  }

  const idOf = (server: PlacedServer): Read<string> => read(server, "id", server.stored.fields.id, serverFields.id)

  const jumpOf = (server: PlacedServer): Read<string | null> => fieldsOf(server).jump

  /** Public fields without the jump hosts. */
  const unrouted = (server: PlacedServer): Read<Server> => {
    const { jump: _, ...fields } = fieldsOf(server)
    return Effect.all({ id: idOf(server), ...fields })
  }

  const withJump = <A extends Server>(server: PlacedServer, read: Read<A>): Read<A> =>
    Effect.zipWith(read, jumpOf(server), (fields, jump) => jump === null ? fields : { ...fields, jump })

  const shown = (server: PlacedServer): Read<Server> => withJump(server, unrouted(server))

  /** Public fields of a server, as far as its references can be resolved. */
  const known = (server: PlacedServer) => {
    const { host, jump, name, port, useSudo, username } = fieldsOf(server)
    const orNothing = <A>(value: Read<A>) => Effect.orElseSucceed(value, () => undefined)
    return Effect.all({
      name: orNothing(name),
      host: orNothing(host),
      port: orNothing(port),
      username: orNothing(username),
      jump: orNothing(jump),
      useSudo: orNothing(useSudo)
    })
  }

  /** A server with its credentials, without its jump hosts. */
  const unroutedAccess = (server: PlacedServer): Read<ServerAccess> =>
    Effect.gen(function*() {
      const { agent, passphrase, password, privateKey, sudoPassword } = server.stored.fields
      const secret = (name: "password" | "sudoPassword" | "passphrase", entry: LocatedValue | undefined) =>
        entry === undefined
          ? Effect.succeed({})
          : Effect.map(read(server, name, entry, serverFields[name]), (value) => ({ [name]: value }))
      return {
        ...(yield* unrouted(server)),
        credentials: {
          ...(yield* secret("password", password)),
          ...(yield* secret("sudoPassword", sudoPassword)),
          ...(yield* secret("passphrase", passphrase)),
          ...(privateKey === undefined
            ? {}
            : { privateKey: resolver.path(yield* read(server, "privateKey", privateKey, serverFields.privateKey)) }),
          ...(agent === undefined ? {} : { agent: yield* read(server, "agent", agent, serverFields.agent) })
        }
      }
    })

  const access = (server: PlacedServer): Read<ServerAccess> => withJump(server, unroutedAccess(server))

  /** Fields without a usable value, with their lines: a reference cannot be resolved, or its value is invalid. */
  const problems = (server: PlacedServer) =>
    Effect.map(
      Effect.forEach(Struct.keys(serverFields), (name) => {
        const entry = server.stored.fields[name]
        return entry === undefined
          ? Effect.succeedNone
          : Effect.match(read<unknown>(server, name, entry, serverFields[name]), {
            onFailure: (error) => Option.some({ error, line: entry.line }),
            onSuccess: Option.none
          })
      }),
      Array.getSomes
    )

  /** Resolvable secrets among a server's credentials. */
  const secrets = (server: PlacedServer) =>
    Effect.map(
      Effect.forEach(secretFields, (name) => {
        const entry = server.stored.fields[name]
        return Effect.option(
          entry === undefined ? Effect.fail(undefined) : read(server, name, entry, serverFields[name])
        )
      }),
      Array.getSomes
    )

  /** The server with this id. Skips entries whose id cannot be resolved. */
  const withId = (servers: ReadonlyArray<StoredServer>, id: string): Effect.Effect<Option.Option<PlacedServer>> =>
    Effect.findFirst(
      servers.map((stored, index) => ({ stored, index })),
      (server) => Effect.match(idOf(server), { onFailure: () => false, onSuccess: (own) => own === id })
    )

  /** The servers whose id and name can be resolved, with their place in the list. */
  const named = (servers: ReadonlyArray<StoredServer>) =>
    Effect.map(
      Effect.forEach(servers, (stored, index) => {
        const placed = { stored, index }
        const name = read(placed, "name", stored.fields.name, serverFields.name)
        return Effect.option(Effect.all({ id: idOf(placed), name, placed: Effect.succeed(placed) }))
      }),
      Array.getSomes
    )

  /** Resolvable ids of the stored servers. */
  const ids = (servers: ReadonlyArray<StoredServer>): Effect.Effect<ReadonlyArray<string>> =>
    Effect.map(
      Effect.forEach(servers, (stored, index) => Effect.option(idOf({ stored, index }))),
      Array.getSomes
    )

  return { access, idOf, ids, jumpOf, known, named, problems, secrets, shown, unroutedAccess, withId }
}
