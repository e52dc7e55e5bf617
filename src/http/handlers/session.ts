import { HttpApiBuilder, HttpApp, HttpServerRequest, type HttpServerResponse } from "@effect/platform"
import { Effect, Option, Redacted } from "effect"
import { type SessionRequest, tokenRequired } from "../../schema/session.ts"
import { CurrentCaller, makeLocalCaller } from "../../services/access/Caller.ts"
import { isKnown } from "../../services/access/rights.ts"
import { Notifier } from "../../services/notify/Notifier.ts"
import { digestSecret, Sessions } from "../../services/Sessions.ts"
import { ApiError, orApiError } from "../api/annotations.ts"
import { BerthApi } from "../api/BerthApi.ts"
import { CurrentPolicy, findTokenHolder, requiresToken } from "../guard.ts"
import { isSecure, readSessionId, withoutSession, withSession, WrongTokens } from "../sessions.ts"
import { loadOnUse } from "../wire.ts"

const onTheWay = (change: (response: HttpServerResponse.HttpServerResponse) => HttpServerResponse.HttpServerResponse) =>
  HttpApp.appendPreResponseHandler((_, response) => Effect.succeed(change(response)))

const headers = Effect.map(HttpServerRequest.HttpServerRequest, (request) => request.headers)
const secure = Effect.map(headers, isSecure)
const sessionId = Effect.map(headers, readSessionId)

export const SessionHandlers = HttpApiBuilder.group(BerthApi, "session", (handlers) =>
  Effect.gen(function*() {
    const sessions = yield* Sessions
    const current = yield* CurrentPolicy
    const wrongTokens = yield* WrongTokens
    const closeCarried = Effect.flatMap(sessionId, (id) => Effect.transposeOption(Option.map(id, sessions.close)))
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
        const policy = yield* current.now
        if (!requiresToken(policy)) return { ...makeLocalCaller(), expiresAt: null }
        const given = Redacted.value(token)
        const holder = findTokenHolder(given, policy)
        if (Option.isNone(holder)) {
          const { remoteAddress } = yield* HttpServerRequest.HttpServerRequest
          yield* wrongTokens.throttle(remoteAddress)
          const message = "This token is not one of the service's settings: take http.token or one of http.tokens"
          return yield* new ApiError({ status: 401, message })
        }
        const { name, role } = holder.value
        yield* closeCarried
        const id = yield* sessions.open({ name, tokenDigest: digestSecret(given) })
        yield* onTheWay(withSession(id, yield* secure))
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
          yield* closeCarried
          yield* onTheWay(withoutSession(yield* secure))
          return { success: true as const }
        }))
  }))

const loadChange = () => import("../../pipelines/settings.ts")
const loadShow = () => import("../../pipelines/settings.ts")

export const SettingsHandlers = HttpApiBuilder.group(BerthApi, "settings", (handlers) =>
  handlers
    .handle("listSettings", () => orApiError(loadOnUse(loadShow, ({ showSettings }) => showSettings)))
    .handle(
      "changeSettings",
      ({ payload, urlParams }) =>
        orApiError(
          loadOnUse(loadChange, ({ changeSettings }) => changeSettings(payload, urlParams.plan === "true"))
        )
    ))

export const NotifyHandlers = HttpApiBuilder.group(BerthApi, "notify", (handlers) =>
  Effect.map(
    Notifier,
    (notifier) => handlers.handle("testNotify", ({ path }) => orApiError(notifier.test(path.name)))
  ))
