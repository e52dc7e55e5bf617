import { type Headers, HttpApiBuilder, HttpApp, HttpServerRequest, type HttpServerResponse } from "@effect/platform"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Effect, Option, Redacted } from "effect"
import { type SessionRequest, tokenRequired } from "../../schema/session.ts"
import type { TokenRequest } from "../../schema/tokens.ts"
import { CurrentCaller, isKnown, makeLocalCaller } from "../../services/access/Caller.ts"
import { Notifier } from "../../services/notify/Notifier.ts"
import { digestSecret, type SessionOwner, Sessions, ticketPrefix } from "../../services/Sessions.ts"
import { ApiError, orApiError } from "../api/annotations.ts"
import { BerthApi } from "../api/BerthApi.ts"
import { CurrentPolicy, findTokenHolder, isSameSecret, requiresToken } from "../guard.ts"
import { canTellPeers, isOwnPeer } from "../ownPeer.ts"
import { isSecure, readSessionId, withoutSession, withSession, WrongTokens } from "../sessions.ts"
import { loadOnUse } from "../wire.ts"

const onTheWay = (change: (response: HttpServerResponse.HttpServerResponse) => HttpServerResponse.HttpServerResponse) =>
  HttpApp.appendPreResponseHandler((_, response) => Effect.succeed(change(response)))

const headers = Effect.map(HttpServerRequest.HttpServerRequest, (request) => request.headers)
const secure = Effect.map(headers, isSecure)
const sessionId = Effect.map(headers, readSessionId)

const bearerOf = ({ authorization }: Headers.Headers) => /^Bearer +([^ ].*)$/i.exec(authorization ?? "")?.[1]

const ticketRefused =
  "This log-in address was used already, is older than a minute, or was opened by another user or " +
  "through a proxy: run berth open again on the service's machine, or log in with a token"

const ticketForbidden = "Only programs of the service's own user on its machine get a log-in ticket"

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

    const openFor = (owner: SessionOwner) =>
      Effect.gen(function*() {
        yield* closeCarried
        const id = yield* sessions.open(owner)
        yield* onTheWay(withSession(id, yield* secure))
        return yield* endOf(Option.some(id))
      })

    /** Redeems a ticket for a browser of this process's user. */
    const openWithTicket = (ticket: string) =>
      Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        // Redeemed in any case: a ticket that another user has seen is worth nothing afterwards.
        const owner = yield* sessions.redeemTicket(ticket)
        const isOwn = yield* isOwnPeer(NodeHttpServerRequest.toIncomingMessage(request))
        if (Option.isNone(owner) || !isOwn) {
          yield* wrongTokens.throttle(request.remoteAddress)
          return yield* new ApiError({ status: 401, message: ticketRefused })
        }
        const { name, role } = makeLocalCaller()
        return { name, role, expiresAt: yield* openFor(owner.value) }
      })

    const open = ({ token }: SessionRequest) =>
      Effect.gen(function*() {
        const policy = yield* current.now
        if (!requiresToken(policy)) return { ...makeLocalCaller(), expiresAt: null }
        const given = Redacted.value(token)
        if (given.startsWith(ticketPrefix)) return yield* openWithTicket(given)
        const holder = findTokenHolder(given, policy)
        if (Option.isNone(holder)) {
          const { remoteAddress } = yield* HttpServerRequest.HttpServerRequest
          yield* wrongTokens.throttle(remoteAddress)
          const message = "This token is not one of the service's settings: take http.token or one of http.tokens"
          return yield* new ApiError({ status: 401, message })
        }
        const { name, role } = holder.value
        return { name, role, expiresAt: yield* openFor({ name, tokenDigest: digestSecret(given) }) }
      })

    const issueTicket = Effect.gen(function*() {
      const policy = yield* current.now
      const given = bearerOf(yield* headers)
      const own = Option.filter(policy.privateToken, (token) => given !== undefined && isSameSecret(given, token))
      if (Option.isNone(own)) return yield* new ApiError({ status: 403, message: ticketForbidden })
      if (!requiresToken(policy)) return { ticket: null }
      const tokenDigest = digestSecret(Redacted.value(own.value))
      return { ticket: Redacted.make(yield* sessions.issueTicket({ name: makeLocalCaller().name, tokenDigest })) }
    })

    return handlers
      .handle("openSession", ({ payload }) => open(payload))
      .handle("issueTicket", () => issueTicket)
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

const loadTokens = () => import("../../pipelines/settings.ts")

/**
 * Adds a token. A page without one has no rights after the first token: that of the service's own user is logged in as
 * this user, any other with the new token.
 */
const addTokenHandler = ({ payload }: { readonly payload: TokenRequest }) =>
  Effect.gen(function*() {
    const sessions = yield* Sessions
    const current = yield* CurrentPolicy
    const { privateToken, ...before } = yield* current.now
    const added = yield* orApiError(loadOnUse(loadTokens, ({ addToken }) => addToken(payload)))
    if (!requiresToken(before) && bearerOf(yield* headers) === undefined) {
      const request = yield* HttpServerRequest.HttpServerRequest
      const isOwn = canTellPeers && Option.isSome(privateToken) &&
        (yield* isOwnPeer(NodeHttpServerRequest.toIncomingMessage(request)))
      const owner = isOwn
        ? { name: makeLocalCaller().name, tokenDigest: digestSecret(Redacted.value(privateToken.value)) }
        : { name: added.name, tokenDigest: digestSecret(Redacted.value(added.token)) }
      yield* onTheWay(withSession(yield* sessions.open(owner), yield* secure))
    }
    return added
  })

export const TokensHandlers = HttpApiBuilder.group(BerthApi, "tokens", (handlers) =>
  handlers
    .handle("listTokens", () => orApiError(loadOnUse(loadTokens, ({ listTokens }) => listTokens)))
    .handle("addToken", addTokenHandler)
    .handle(
      "removeToken",
      ({ path }) => orApiError(loadOnUse(loadTokens, ({ removeToken }) => removeToken(path.name)))
    ))

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
