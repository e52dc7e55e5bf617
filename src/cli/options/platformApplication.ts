import { Effect, Option, Predicate } from "effect"
import { Berth } from "../../client/Berth.ts"
import { argument } from "../parse/parameters.ts"
import { Failed } from "../terminal/commandErrors.ts"
import { escapeInline } from "../terminal/safeText.ts"

export const applicationName = argument("name", "The exact name of an application of the platform.", "application")

export const makeApplicationNotFound = (appName: string) =>
  new Failed({
    message: `The platform has no application named "${escapeInline(appName)}": berth app list names those that it has`
  })

/** Finds the uuid of an application of the platform by its exact name. */
export const findUuid = (appName: string) =>
  Effect.gen(function*() {
    const found = yield* (yield* Berth).use((api) => api.findApplication({ path: { name: appName } }))
    return found !== null && Predicate.isString(found["uuid"]) ? Option.some(found["uuid"]) : Option.none()
  })

/** Finds the uuid of an application by its exact name; fails if there is none. */
export const requireUuid = (appName: string) =>
  Effect.flatMap(
    findUuid(appName),
    Option.match({ onNone: () => makeApplicationNotFound(appName), onSome: Effect.succeed })
  )
