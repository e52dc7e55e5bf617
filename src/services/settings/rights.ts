import { Duration, Effect, Either, Option, Record } from "effect"
import { ServerForbidden, type ServerInput } from "../../schema/servers.ts"
import type { SettingName } from "../../schema/settings.ts"
import { SettingForbidden, type SettingJson } from "../../schema/settingsList.ts"
import { type ServerAccess } from "../../schema/ssh.ts"
import { cut, quoteInput } from "../../schema/words.ts"
import { type Caller, CurrentCaller } from "../access/Caller.ts"
import { type SettingsDocument } from "./document.ts"
import {
  credentialFields,
  type makeServerReader,
  type PlacedServer,
  type ServerField,
  serverFields,
  type StoredServer
} from "./readLists.ts"
import { decodeWritten, definitions, hasReference, isList, makeTextScalar } from "./settingValue.ts"

/** New values of settings by their names. */
export type SettingChanges = Readonly<Record<string, SettingJson>>

/**
 * Settings that run programs, grant access or allow paths outside the projects; a token must not widen its own rights.
 */
const ofThisMachine = /^(?:build\.shell|editor\.command|(?:http|mcp|projects|secrets|state)\..*)$/

const whatCallersMay = "decides what callers may do on this machine"

/** Another collector would get the headers, which no caller may read. */
const whereTelemetryGoes = "decides where this machine sends telemetry and its headers"

/** Reason why a caller may not change a setting to any value; undefined if it may. */
export const findSettingRefusal = (setting: string, { isLocal }: Caller): string | undefined => {
  if (isLocal === true) return undefined
  if (ofThisMachine.test(setting)) return whatCallersMay
  return setting.startsWith("telemetry.") ? whereTelemetryGoes : undefined
}

/** Secret with its fallbacks in their order, and the settings of the addresses that it is sent to. */
interface Delivery {
  readonly secrets: readonly [SettingName, ...ReadonlyArray<SettingName>]
  readonly addresses: ReadonlyArray<SettingName>
}

/** Every secret that leaves this machine for an address in the settings. */
export const deliveries: ReadonlyArray<Delivery> = [
  { secrets: ["platform.token"], addresses: ["platform.url"] },
  { secrets: ["gitHost.token", "token"], addresses: ["gitHost.url"] },
  // The address of the events is told to the git host with it. Old git hosts send it along with each event.
  { secrets: ["gitHost.webhookSecret"], addresses: ["gitHost.url", "platform.url", "platform.webhookUrl"] },
  { secrets: ["telemetry.headers"], addresses: ["telemetry.otlp"] }
]

const textsOf = ({ settings }: SettingsDocument, name: SettingName): ReadonlyArray<string> => {
  const written = settings[name]?.written
  return written === undefined ? [] : (isList(written) ? written : [written]).map(({ text }) => text)
}

/** Text of a setting; an empty one counts as none. */
const textOf = (document: SettingsDocument, name: SettingName): string | undefined =>
  textsOf(document, name).join("\n") || undefined

/** A secret at an address, both by name and by text as written in the file. */
interface Delivered {
  readonly address: SettingName
  readonly secret: SettingName
  readonly wanted: SettingName
  readonly key: string
}

const listDelivered = (document: SettingsDocument): ReadonlyArray<Delivered> =>
  deliveries.flatMap(({ addresses, secrets }) => {
    const secret = secrets.find((name) => textOf(document, name) !== undefined)
    return secret === undefined ? [] : addresses.flatMap((address) => {
      const to = textOf(document, address)
      const key = JSON.stringify([address, to, secret, textOf(document, secret)])
      return to === undefined ? [] : [{ address, secret, wanted: secrets[0], key }]
    })
  })

const isGiven = (changes: SettingChanges, secret: SettingName) => {
  const value = changes[secret]
  return typeof value === "string" && value !== "" && !hasReference(value)
}

/** Secrets that a change would send to an address that does not have them, unless the change itself gives them. */
const findLeak = (before: SettingsDocument, after: SettingsDocument, changes: SettingChanges) => {
  const had = new Set(listDelivered(before).map(({ key }) => key))
  const leaks = listDelivered(after).filter(({ key, secret }) => !had.has(key) && !isGiven(changes, secret))
  const [first] = leaks
  if (first === undefined) return undefined
  const wanted = new Set(leaks.filter(({ address }) => address === first.address).map((leak) => leak.wanted))
  const isMoved = Object.hasOwn(changes, first.address)
  const where = isMoved ? "another address" : `the address in ${first.address}`
  const what = first.secret === "gitHost.webhookSecret" ? "secret" : "token"
  return {
    setting: isMoved ? first.address : Object.keys(changes).find((name) => name === first.wanted) ?? first.secret,
    reason: `would send the stored ${what} to ${where}, unless the same change gives ${[...wanted].join(" and ")}`
  }
}

const shortestHistory = Duration.days(1)

const erasesHistory = (name: string, value: SettingJson): boolean => {
  if (name !== "runs.keep" || value === null || Array.isArray(value)) return false
  const decoded = decodeWritten(definitions["runs.keep"].decode, makeTextScalar(String(value)))
  return Either.isRight(decoded) && Duration.lessThan(decoded.right, shortestHistory)
}

const findValueRefusal = (before: SettingsDocument, name: string, value: SettingJson): string | undefined => {
  const texts = (Array.isArray(value) ? value : [value]).filter((text) => typeof text === "string")
  const stored: Readonly<Record<string, unknown>> = before.settings
  const standing = Object.hasOwn(stored, name) && isKnown(name) ? textsOf(before, name) : []
  if (texts.some(hasReference) && texts.join("\0") !== standing.join("\0")) return "would be read from this machine"
  return erasesHistory(name, value)
    ? "of less than a day would erase who did what"
    : undefined
}

const isKnown = (name: string): name is SettingName => Object.hasOwn(definitions, name)

/**
 * Refuses a change of settings that the current caller may not make. No caller can read a stored secret, so no caller
 * with a token may have one sent elsewhere, by an address, by a secret or by its fallback. A reference is written only
 * where the file already holds exactly it.
 */
export const permitSettings = (
  before: SettingsDocument,
  after: SettingsDocument,
  changes: SettingChanges
): Effect.Effect<void, SettingForbidden> =>
  Effect.gen(function*() {
    const caller = yield* CurrentCaller
    if (caller.isLocal === true) return
    for (const [setting, value] of Object.entries(changes)) {
      const reason = findSettingRefusal(setting, caller) ?? findValueRefusal(before, setting, value)
      if (reason !== undefined) return yield* new SettingForbidden({ setting, reason })
    }
    const leak = findLeak(before, after, changes)
    if (leak !== undefined) return yield* new SettingForbidden(leak)
  })

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
const fieldText = ({ fields }: StoredServer, name: ServerField): string | undefined => {
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
  const isSame = (name: ServerField) => before !== undefined && fieldText(before, name) === fieldText(after, name)
  const isMoved = !routeFields.every(isSame)
  return Record.keys(serverFields).find((name) => {
    const isCredential = credentialFields.some((each) => each === name)
    return hasReference(fieldText(after, name) ?? "") && (!isSame(name) || (isCredential && isMoved))
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
      const isUsed = (name: "agent" | "privateKey") => stored.some((each) => fieldText(each, name) === given[name])
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
          {
            privateKey: fieldText(own.stored, "privateKey"),
            agent: fieldText(own.stored, "agent")
          },
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
