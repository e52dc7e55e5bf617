import { Array, Effect, Either, Option, Record, Redacted, Schema, Struct } from "effect"
import { NotifyEvents, NotifyFormat, NotifyName, type NotifyTarget, NotifyUrl } from "../../schema/notify.ts"
import { Fingerprint, isKeyText, JumpList, Port, type Server, usualSshPort } from "../../schema/servers.ts"
import type { SettingsInvalid, SettingUnresolved } from "../../schema/settings.ts"
import { type ServerAccess } from "../../schema/ssh.ts"
import {
  checkEntry,
  type CheckResult,
  combineChecks,
  type Decode,
  failCheck,
  failUnknownSetting,
  isList,
  type LocatedValue,
  type NamedTree,
  type Resolver,
  type Tree
} from "./settingValue.ts"

const field = <A, I>(schema: Schema.Schema<A, I>) => ({ decode: Schema.decodeUnknownEither(schema) })

/** The fields of an entry of `notify`. */
const targetFields = {
  name: field(NotifyName),
  url: field(NotifyUrl),
  events: field(NotifyEvents),
  format: field(NotifyFormat),
  secret: field(Schema.Redacted(Schema.NonEmptyString))
} as const
type TargetField = keyof typeof targetFields
const required = ["name", "url", "events", "format"] as const
const isTargetField = (name: string): name is TargetField => Object.hasOwn(targetFields, name)

/** The fields of a target whose values are secret. */
export const secretTargetFields = ["url", "secret"] as const

/** A target as written in the file, with unresolved references. */
export interface StoredNotifyTarget {
  readonly line: number
  readonly fields:
    & { readonly [Field in (typeof required)[number]]: LocatedValue }
    & { readonly secret?: LocatedValue }
}

const targetOf = (tree: Tree, index: number): CheckResult<StoredNotifyTarget> =>
  Either.gen(function*() {
    const at = `notify[${index}]`
    if (tree._tag !== "Map") return yield* failCheck(tree.line, at, "must have a name, a url, events and a format")
    const fieldOf = (named: NamedTree): CheckResult<Option.Option<readonly [TargetField, LocatedValue]>> => {
      const { line, name } = named
      return isTargetField(name)
        ? Either.map(
          checkEntry(`${at}.${name}`, targetFields[name].decode, named),
          Option.map((entry) => [name, entry])
        )
        : failUnknownSetting(line, `${at}.${name}`, name, Record.keys(targetFields))
    }
    const missing = required
      .filter((field) => !tree.entries.some(({ name, tree: { _tag } }) => name === field && _tag !== "Absent"))
      .map((field) => failCheck(tree.line, `${at}.${field}`, "is missing"))
    const found = yield* combineChecks([...tree.entries.map(fieldOf), ...missing])
    const fields: { readonly [Field in TargetField]?: LocatedValue } = Object.fromEntries(Array.getSomes(found))
    const one = (field: (typeof required)[number]) =>
      Either.fromNullable(fields[field], () => [{ line: tree.line, setting: `${at}.${field}`, reason: "is missing" }])
    const all = yield* Either.all({ name: one("name"), url: one("url"), events: one("events"), format: one("format") })
    return { line: tree.line, fields: { ...all, ...fields.secret === undefined ? {} : { secret: fields.secret } } }
  })

const nameOf = ({ fields: { name } }: StoredNotifyTarget) => isList(name.written) ? undefined : name.written.text

/** Reads `notify`; the names of targets must be unique. */
export const readStoredTargets = (tree: Tree): CheckResult<ReadonlyArray<StoredNotifyTarget>> =>
  Either.gen(function*() {
    if (tree._tag === "Absent") return []
    if (tree._tag !== "List") return yield* failCheck(tree.line, "notify", "must be a list of targets")
    const targets = yield* combineChecks(tree.items.map(targetOf))
    const names = targets.map(nameOf)
    const twin = targets.find((_, index) => names.indexOf(names[index]) < index)
    return twin === undefined
      ? targets
      : yield* failCheck(twin.line, "notify", "contains two targets with the same name")
  })

/** Targets with their references resolved. */
export const notifyTargetReader = (resolver: Resolver) => {
  const read = (index: number, { fields, line }: StoredNotifyTarget) => {
    const at = (field: string) => `notify[${index}].${field}`
    const url = resolver.value(at("url"), fields.url, targetFields.url.decode)
    const secret = fields.secret === undefined
      ? Effect.succeedNone
      : Effect.asSome(resolver.value(at("secret"), fields.secret, targetFields.secret.decode))
    const target = Effect.all({
      name: resolver.value(at("name"), fields.name, targetFields.name.decode),
      events: resolver.value(at("events"), fields.events, targetFields.events.decode),
      format: resolver.value(at("format"), fields.format, targetFields.format.decode)
    }).pipe(Effect.map((known): NotifyTarget => ({ ...known, access: Effect.all({ url, secret }) })))
    return { line, secret, target, url }
  }

  /** The targets whose name, events and format can be resolved. */
  const all = (stored: ReadonlyArray<StoredNotifyTarget>): Effect.Effect<ReadonlyArray<NotifyTarget>> =>
    Effect.map(Effect.forEach(stored, (one, index) => Effect.option(read(index, one).target)), Array.getSomes)

  /** Resolvable addresses and secrets of the targets. */
  const secrets = (stored: ReadonlyArray<StoredNotifyTarget>) =>
    Effect.map(
      Effect.forEach(stored, (one, index) => {
        const { secret, url } = read(index, one)
        return Effect.all([Effect.option(url), Effect.map(Effect.option(secret), Option.flatten)])
      }),
      (found) => found.flatMap(Array.getSomes)
    )

  /** Targets with their lines, and the reason why each cannot be notified, if any. */
  const judged = (stored: ReadonlyArray<StoredNotifyTarget>) =>
    Effect.forEach(stored, (one, index) => {
      const { line, target } = read(index, one)
      const whole = Effect.tap(target, ({ access }) => access)
      return Effect.all({
        line: Effect.succeed(line),
        name: Effect.succeed(nameOf(one) ?? ""),
        target: Effect.option(target),
        error: Effect.map(Effect.either(whole), Either.getLeft)
      })
    })

  return { all, judged, secrets }
}

const text = field(Schema.NonEmptyString)
const secret = field(Schema.Redacted(Schema.NonEmptyString))

/** The fields of an entry of `servers`, in the order in which they are written. */
export const serverFields = {
  id: text,
  name: text,
  host: text,
  port: field(Port),
  username: text,
  jump: field(JumpList),
  hostKey: field(Fingerprint),
  password: secret,
  sudoPassword: secret,
  privateKey: text,
  passphrase: secret,
  agent: field(Schema.Boolean),
  useSudo: field(Schema.Boolean)
} as const

export type ServerField = keyof typeof serverFields

/** The fields without which an entry is not a server. */
export type RequiredField = "id" | "name" | "host" | "username"

/** Credentials: preserved when a replacement omits them, and never part of a response. */
export const credentialFields = ["password", "sudoPassword", "privateKey", "passphrase", "agent"] as const

/** The fields whose values are secret. */
export const secretFields = ["password", "sudoPassword", "passphrase"] as const

/** A server as written in the file, with unresolved references. */
export interface StoredServer {
  readonly line: number
  readonly fields:
    & { readonly [Field in RequiredField]: LocatedValue }
    & { readonly [Field in Exclude<ServerField, RequiredField>]?: LocatedValue }
}

type Read<A> = Effect.Effect<A, SettingUnresolved | SettingsInvalid>

/** An entry of `servers` with its index in the list, for error messages. */
export interface PlacedServer {
  readonly index: number
  readonly stored: StoredServer
}

const shortestKeyLine = 24

/** Lines of a private key that have secrets; none for the path of a key file. */
const listKeyLines = (text: string): ReadonlyArray<Redacted.Redacted> =>
  isKeyText(text)
    ? text.split(/-----[^-\r\n]*-----|\r?\n|\\n/).filter((line) => line.length >= shortestKeyLine).map((line) =>
      Redacted.make(line)
    )
    : []

/** Reads the entries of `servers`. */
export const makeServerReader = (resolver: Resolver) => {
  const read = <A>(
    { index }: PlacedServer,
    name: string,
    entry: LocatedValue,
    { decode }: { readonly decode: Decode<A> }
  ) => resolver.value(`servers[${index}].${name}`, entry, decode)

  const fieldsOf = (server: PlacedServer) => {
    const { host, hostKey, jump, name, port, useSudo, username } = server.stored.fields
    return {
      name: read(server, "name", name, serverFields.name),
      host: read(server, "host", host, serverFields.host),
      port: port === undefined ? Effect.succeed(usualSshPort) : read(server, "port", port, serverFields.port),
      username: read(server, "username", username, serverFields.username),
      jump: jump === undefined ? Effect.succeed(null) : read(server, "jump", jump, serverFields.jump),
      hostKey: hostKey === undefined ? Effect.succeed(null) : read(server, "hostKey", hostKey, serverFields.hostKey),
      useSudo: useSudo === undefined ? Effect.succeed(false) : read(server, "useSudo", useSudo, serverFields.useSudo)
    }
  }

  const idOf = (server: PlacedServer): Read<string> => read(server, "id", server.stored.fields.id, serverFields.id)

  const jumpOf = (server: PlacedServer): Read<string | null> => fieldsOf(server).jump

  /** Public fields without the jump hosts. */
  const unrouted = (server: PlacedServer): Read<Server> => {
    const { jump: _, ...fields } = fieldsOf(server)
    return Effect.map(
      Effect.all({ id: idOf(server), ...fields }),
      ({ hostKey, ...shown }) => hostKey === null ? shown : { ...shown, hostKey }
    )
  }

  const withJump = <A extends Server>(server: PlacedServer, read: Read<A>): Read<A> =>
    Effect.zipWith(read, jumpOf(server), (fields, jump) => jump === null ? fields : { ...fields, jump })

  const shown = (server: PlacedServer): Read<Server> => withJump(server, unrouted(server))

  /** Public fields of a server, as far as its references can be resolved. */
  const known = (server: PlacedServer) => {
    const { host, hostKey, jump, name, port, useSudo, username } = fieldsOf(server)
    const orNothing = <A>(value: Read<A>) => Effect.orElseSucceed(value, () => undefined)
    return Effect.all({
      name: orNothing(name),
      host: orNothing(host),
      port: orNothing(port),
      username: orNothing(username),
      jump: orNothing(jump),
      hostKey: orNothing(hostKey),
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
          ...(privateKey === undefined ? {} : yield* Effect.map(
            read(server, "privateKey", privateKey, serverFields.privateKey),
            (key) => isKeyText(key) ? { keyText: Redacted.make(key) } : { privateKey: resolver.path(key) }
          )),
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
    Effect.gen(function*() {
      const found = yield* Effect.forEach(secretFields, (name) => {
        const entry = server.stored.fields[name]
        return Effect.option(
          entry === undefined ? Effect.fail(undefined) : read(server, name, entry, serverFields[name])
        )
      })
      const { privateKey } = server.stored.fields
      const key = privateKey === undefined
        ? Option.none()
        : yield* Effect.option(read(server, "privateKey", privateKey, serverFields.privateKey))
      return [...Array.getSomes(found), ...Option.match(key, { onNone: () => [], onSome: listKeyLines })]
    })

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
