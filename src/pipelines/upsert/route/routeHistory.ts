import { Array, type Option, Predicate } from "effect"
import type { Change } from "../../../schema/applications/Changelog.ts"
import { hostPortKey } from "../../../schema/applications/hostPortKey.ts"
import type { Route } from "../../../schema/routes/Route.ts"
import { formatTarget } from "../../routes/routeLines.ts"

const field = "traefik_route"

/** Describes a route as domain and target. */
export const describeRouteTarget = (route: Route): string => `${route.domain} to http://${formatTarget(route)}`

/** Change of a new route, for the changelog. */
export const buildRouteChange = (route: Route): Change => ({
  field,
  label: "Proxy route",
  old: null,
  new: describeRouteTarget(route)
})

/**
 * Targets that an application's route may have had according to its recorded changes: those of its routes, and its
 * former ports at the present address.
 */
export const listFormerTargets = (changes: ReadonlyArray<Change>, targetIp: string): ReadonlyArray<string> =>
  changes.flatMap((change) => {
    const values = [change.old, change.new].filter(Predicate.isString)
    if (change.field === field) return values.flatMap((way) => / to http:\/\/(\S+)$/.exec(way)?.[1] ?? [])
    return change.field === hostPortKey
      ? values.filter((value) => /^\d+$/.test(value)).map((value) => formatTarget({ targetIp, port: Number(value) }))
      : []
  })

/** Domain, in lower case, that an application's route was last written for, according to its recorded changes. */
export const findLastDomain = (changes: ReadonlyArray<Change>): Option.Option<string> =>
  Array.last(changes.flatMap((change) =>
    change.field === field && Predicate.isString(change.new)
      ? /^(\S+) to http:\/\//.exec(change.new)?.[1]?.toLowerCase() ?? []
      : []
  ))
