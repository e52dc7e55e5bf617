import { Effect, Option, Record } from "effect"
import type { ServerAccess, ServerInput } from "../../../schema/servers/Server.ts"
import { ServerForbidden } from "../../../schema/servers/ServerToStore.ts"
import { cut, quoteInput } from "../../../schema/words/quoted.ts"
import { CurrentCaller } from "../../access/Caller.ts"
import type { makeServerReader, PlacedServer } from "../read/makeServerReader.ts"
import { hasReference } from "../read/reference.ts"
import { credentialFields, type ServerField, serverFields, type StoredServer } from "../read/serverFields.ts"
import { isList } from "../read/settingValue.ts"

/** Resolves the jump hosts of a server among the stored ones. */
export type RouteFor<E> = (
  stored: ReadonlyArray<StoredServer>,
  jump: string
) => Effect.Effect<ServerAccess, E>

/** An edit of the list of servers, and the id of the server that it adds, changes or removes. */
export interface ServerListChange {
  readonly before: ReadonlyArray<StoredServer>
  readonly after: ReadonlyArray<StoredServer>
  readonly id: string
}

/** Jump host as part of a route: its log-in, and the stored server whose credentials it uses. */
interface Hop {
  readonly login: string
  /** Empty for the credentials of the SSH client of the service's user. */
  readonly storedAs: string
}

const listHops = (via: ServerAccess | undefined): ReadonlyArray<Hop> =>
  via === undefined ? [] : [
    ...listHops(via.via),
    { login: `${via.username}@${via.host.toLowerCase()}:${via.port}`, storedAs: via.id }
  ]

const formatHops = (hops: ReadonlyArray<Hop>): string => JSON.stringify(hops.map((hop) => [hop.login, hop.storedAs]))

/** Routes up to each jump host that logs in with the credentials of the SSH client. */
const listClientRoutes = (hops: ReadonlyArray<Hop>): ReadonlyArray<readonly [login: string, route: string]> =>
  hops.flatMap(({ login, storedAs }, index) =>
    storedAs === "" ? [[login, formatHops(hops.slice(0, index + 1))] as const] : []
  )

/** Text of a field as the settings file has it. */
const textOf = ({ fields }: StoredServer, name: ServerField): string | undefined => {
  const written = fields[name]?.written
  return written === undefined || isList(written) ? undefined : written.text
}

const mostNamed = 5

const formatNames = (names: ReadonlyArray<string>): string => {
  const shown = names.slice(0, mostNamed).map((name) => `"${cut(name)}"`).join(", ")
  return names.length > mostNamed ? `${shown} and ${names.length - mostNamed} more` : shown
}

const forbid = (reason: string) => new ServerForbidden({ reason })

const routeFields = ["host", "port", "username", "jump"] as const

/** Finds a field with a reference that the edit of one server writes, or whose credential it sends elsewhere. */
const findReference = (before: StoredServer | undefined, after: StoredServer): ServerField | undefined => {
  const isSame = (name: ServerField) => before !== undefined && textOf(before, name) === textOf(after, name)
  const isMoved = !routeFields.every(isSame)
  return Record.keys(serverFields).find((name) => {
    const isCredential = credentialFields.some((each) => each === name)
    return hasReference(textOf(after, name) ?? "") && (!isSame(name) || (isCredential && isMoved))
  })
}

/** Finds a field with a new reference. One that the file holds in the same place stays permitted. */
const findNewReference = (
  before: ReadonlyArray<StoredServer>,
  after: ReadonlyArray<StoredServer>
): ServerField | undefined =>
  // A removal writes nothing. Other edits keep the places of the servers, and add one at the end.
  after.length < before.length
    ? undefined
    : after.map((server, index) => findReference(before[index], server)).find((field) => field !== undefined)

/**
 * Rights of callers with a token over the list of servers. Credentials belong to the route of their server: an edit must
 * not change the route of another one, which may lead through a machine of the caller. Key files and the agent of the
 * service's user are not theirs either, unless the settings already use them.
 */
export const makeServerRights = <E>(servers: ReturnType<typeof makeServerReader>, routeFor: RouteFor<E>) => {
  /** Jump hosts of a stored server; the kind of error as text if they cannot be resolved. */
  const hopsOf = (stored: ReadonlyArray<StoredServer>, placed: PlacedServer) =>
    servers.jumpOf(placed).pipe(
      Effect.flatMap((jump) => jump === null ? Effect.succeed(undefined) : routeFor(stored, jump)),
      Effect.map(listHops),
      Effect.option
    )

  const listRoutes = (stored: ReadonlyArray<StoredServer>) =>
    Effect.flatMap(
      servers.named(stored),
      Effect.forEach(({ id, name, placed }) =>
        Effect.map(hopsOf(stored, placed), (hops) => ({ id, name, stored: placed.stored, hops }))
      )
    )

  const formatRoute = (hops: Option.Option<ReadonlyArray<Hop>>) =>
    Option.match(hops, { onNone: () => "", onSome: formatHops })

  /** Refuses key files, the agent, and jump hosts with the SSH client's credentials that no stored server uses. */
  const requireOwnCredentials = (
    stored: ReadonlyArray<StoredServer>,
    given: { readonly privateKey: string | undefined; readonly agent: string | undefined },
    hops: ReadonlyArray<Hop>
  ) =>
    Effect.gen(function*() {
      const isUsed = (name: "agent" | "privateKey") => stored.some((each) => textOf(each, name) === given[name])
      if (given.privateKey !== undefined && !isUsed("privateKey")) {
        return yield* forbid(`No stored server logs in with the key file ${quoteInput(given.privateKey)}`)
      }
      if (given.agent !== undefined && given.agent !== "false" && !isUsed("agent")) {
        return yield* forbid("No stored server logs in with the SSH agent of the service's user")
      }
      const wanted = listClientRoutes(hops)
      if (wanted.length === 0) return
      const used = new Set((yield* listRoutes(stored)).flatMap((each) =>
        Option.match(each.hops, { onNone: () => [], onSome: listClientRoutes }).map(([, route]) => route)
      ))
      const unused = wanted.find(([, route]) =>
        !used.has(route)
      )
      if (unused !== undefined) {
        return yield* forbid(
          `The jump host ${
            cut(unused[0])
          } is not a stored server, and would be logged in to with the SSH keys of the ` +
            "service's user, as no stored server does yet"
        )
      }
    })

  const ifRemote = <A, R, E2>(effect: Effect.Effect<A, E2, R>) =>
    Effect.flatMap(CurrentCaller, ({ isLocal }) => isLocal === true ? Effect.void : Effect.asVoid(effect))

  return {
    /** Refuses an edit that the current caller may not make. */
    permitChange: ({ after, before, id }: ServerListChange) =>
      ifRemote(Effect.gen(function*() {
        // Before anything is resolved.
        const field = findNewReference(before, after)
        if (field !== undefined) {
          return yield* forbid(
            `servers[].${field} would be read from a file or an environment variable of this machine`
          )
        }
        const [then, now] = [yield* listRoutes(before), yield* listRoutes(after)]
        const dependants = then.filter((each) => {
          const same = now.find((other) => other.id === each.id)
          return each.id !== id && (same === undefined || formatRoute(same.hops) !== formatRoute(each.hops))
        })
        if (dependants.length > 0) {
          return yield* forbid(
            `The server is a jump host of ${
              formatNames(dependants.map(({ name }) => name))
            }, whose credentials would ` +
              "then be sent on another route"
          )
        }
        const own = now.find((each) => each.id === id)
        if (own === undefined) return
        yield* requireOwnCredentials(
          before,
          { privateKey: textOf(own.stored, "privateKey"), agent: textOf(own.stored, "agent") },
          Option.getOrElse(own.hops, () => [])
        )
      })),
    /** Refuses credentials of a server that is not stored, and may stay so, which the current caller may not use. */
    permitAccess: (
      stored: ReadonlyArray<StoredServer>,
      { agent, privateKey }: Pick<ServerInput, "agent" | "privateKey">,
      via: ServerAccess | undefined
    ) =>
      ifRemote(requireOwnCredentials(
        stored,
        { privateKey: privateKey || undefined, agent: agent === true ? "true" : undefined },
        listHops(via)
      ))
  }
}
