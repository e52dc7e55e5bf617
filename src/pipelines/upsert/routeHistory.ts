import { Array, type Option, Predicate } from "effect"
import type { Change } from "../../schema/Changelog.ts"
import type { Route } from "../../schema/Route.ts"
import { hostPortKey } from "../applications/hostPort.ts"
import { targetOf } from "../routes/block.ts"

/** The name of an application's route: its own in lower case, letters and digits only. */
export const routeNameOf = (name: string): string => name.replace(/[^A-Za-z0-9]/g, "").toLowerCase()

/** The other applications, by name, whose routes go by the same name as this one's. */
export const namesakesOf = (
  name: string,
  apps: ReadonlyArray<{ readonly name: string }>
): ReadonlyArray<string> =>
  apps.map((app) => app.name).filter((other) => other !== name && routeNameOf(other) === routeNameOf(name))

const field = "traefik_route"

/** Where a route leads, in words. */
export const wayOf = (route: Route): string => `${route.domain} to http://${targetOf(route)}`

/** A new route as the changelog tells it. */
export const routeChange = (route: Route): Change => ({ field, label: "Proxy route", old: null, new: wayOf(route) })

/**
 * Where an application's route may have led before, judged by the changes made so far: where a route was written to,
 * and each port that it has had, at the address that it has now.
 */
export const formerTargets = (changes: ReadonlyArray<Change>, targetIp: string): ReadonlyArray<string> =>
  changes.flatMap((change) => {
    const values = [change.old, change.new].filter(Predicate.isString)
    if (change.field === field) return values.flatMap((way) => / to http:\/\/(\S+)$/.exec(way)?.[1] ?? [])
    return change.field === hostPortKey
      ? values.filter((value) => /^\d+$/.test(value)).map((value) => targetOf({ targetIp, port: Number(value) }))
      : []
  })

/** The domain, in lower case, that an application's route was last written for, by the changes made so far. */
export const lastDomain = (changes: ReadonlyArray<Change>): Option.Option<string> =>
  Array.last(changes.flatMap((change) =>
    change.field === field && Predicate.isString(change.new)
      ? /^(\S+) to http:\/\//.exec(change.new)?.[1]?.toLowerCase() ?? []
      : []
  ))
