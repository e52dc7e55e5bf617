import { HttpRouter } from "@effect/platform"
import { Effect, Layer, Option } from "effect"
import { quoted } from "../schema/quoted.ts"
import { accessOf, Allowed } from "./api/access.ts"
import { ApiError } from "./api/ApiError.ts"
import { BerthApi } from "./api/BerthApi.ts"
import { CurrentCaller } from "./caller.ts"

const access = accessOf(BerthApi)

/**
 * Lets a viewer call what its contract says a viewer may, and nothing else. It goes by the route that was found, however
 * the address was spelled.
 */
export const AllowedLive = Layer.succeed(
  Allowed,
  Effect.gen(function*() {
    const { limitedBy, name, role } = yield* CurrentCaller
    if (role === "operator") return
    const { route } = yield* HttpRouter.RouteContext
    const needed = Option.getOrElse(
      Option.flatten(Option.fromNullable(access.get(`${route.method} ${route.path}`))),
      () => "operator"
    )
    if (needed === "operator") {
      const message = limitedBy === undefined
        ? `${route.method} ${route.path} needs the role operator, and the token ${quoted(name)} has the role ` +
          `${role}. Nothing was changed: use an operator's token`
        : `${route.method} ${route.path} changes something, and agents may only read here: the setting ${limitedBy} ` +
          "is on. Nothing was changed"
      return yield* new ApiError({ status: 403, message })
    }
  })
)
