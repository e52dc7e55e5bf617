import { HttpApiBuilder, HttpApp, HttpServerRequest, type HttpServerResponse } from "@effect/platform"
import { Effect, Option, Redacted } from "effect"
import type { SessionRequest } from "../../schema/Session.ts"
import { CurrentCaller, localCaller } from "../../services/access/Caller.ts"
import { isKnown } from "../../services/access/rights.ts"
import { digestOf, Sessions } from "../../services/sessions/Sessions.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { PrivateToken } from "../../services/state/PrivateToken.ts"
import { ApiError } from "../api/ApiError.ts"
import { BerthApi } from "../api/BerthApi.ts"
import { tokenRequired } from "../guard/judge.ts"
import { sessionIdIn, withoutSession, withSession } from "../session/cookie.ts"
import { holderOf, wantsToken } from "../session/holders.ts"
import { makeSlowed } from "../session/slowed.ts"

const onTheWay = (change: (response: HttpServerResponse.HttpServerResponse) => HttpServerResponse.HttpServerResponse) =>
  HttpApp.appendPreResponseHandler((_, response) => Effect.succeed(change(response)))

/** Whether the browser is on an https page: then a proxy stands before the service. */
const isSecure = Effect.map(
  HttpServerRequest.HttpServerRequest,
  ({ headers }) => headers["origin"]?.startsWith("https://") === true || headers["x-forwarded-proto"] === "https"
)

export const SessionHandlers = HttpApiBuilder.group(BerthApi, "session", (handlers) =>
  Effect.gen(function*() {
    const sessions = yield* Sessions
    const settings = yield* Settings
    const privateToken = yield* PrivateToken
    const slowed = yield* makeSlowed
    const sessionId = Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) => sessionIdIn(headers["cookie"]))
    const endOf = (id: Option.Option<string>) =>
      Option.match(id, {
        onNone: () => Effect.succeed(null),
        onSome: (id) =>
          Effect.map(
            sessions.find(id),
            Option.match({ onNone: () => null, onSome: ({ expiresAt }) => new Date(expiresAt).toISOString() })
          )
      })

    const open = ({ token }: SessionRequest) =>
      Effect.gen(function*() {
        const policy = { ...yield* settings.guard, privateToken }
        if (!wantsToken(policy)) return { ...localCaller(), expiresAt: null }
        const given = Redacted.value(token)
        const holder = yield* slowed(Effect.sync(() => holderOf(given, policy)))
        if (Option.isNone(holder)) {
          const message = "This token is not one of the service's settings: take http.token or one of http.tokens"
          return yield* new ApiError({ status: 401, message })
        }
        const { name, role } = holder.value
        const id = yield* sessions.open({ name, tokenDigest: digestOf(given) })
        yield* onTheWay(withSession(id, yield* isSecure))
        return { name, role, expiresAt: yield* endOf(Option.some(id)) }
      })

    return handlers
      .handle("openSession", ({ payload }) => open(payload))
      .handle("showSession", () =>
        Effect.gen(function*() {
          const { name, role } = yield* CurrentCaller
          if (!isKnown(role)) return yield* new ApiError({ status: 401, message: tokenRequired })
          return { name, role, expiresAt: yield* endOf(yield* sessionId) }
        }))
      .handle("closeSession", () =>
        Effect.gen(function*() {
          yield* Effect.transposeOption(Option.map(yield* sessionId, sessions.close))
          yield* onTheWay(withoutSession(yield* isSecure))
          return { success: true as const }
        }))
  }))
