import {
  type AuthInfo,
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport
} from "@modelcontextprotocol/server"
import { Clock, Effect, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import { anonymousCaller, type Caller } from "../services/access/Caller.ts"
import { agentServer } from "./agentServer.ts"
import type { OfferFor } from "./Offer.ts"
import type { RunRequest } from "./RunRequest.ts"

/** How many agents of the older protocol can be connected at a time. */
const mostSessions = 200
/** How long a silent one is kept, and how long when there are too many: no answer takes as long. */
const idleMillis = 10 * 60 * 1000
const shortIdleMillis = 60 * 1000

/** What an agent sent, whose token it has, and which tools it may have. */
export interface AgentRequest {
  readonly request: Request
  /** The body as JSON; nothing where there is none. */
  readonly body: unknown
  readonly caller: Caller
  readonly readOnly: boolean
}

type Rights = Pick<AgentRequest, "caller" | "readOnly">

interface Session extends Rights {
  readonly transport: WebStandardStreamableHTTPServerTransport
  lastUsed: number
}

const isSame = (one: Rights, other: Rights) =>
  one.caller.name === other.caller.name && one.caller.role === other.caller.role && one.readOnly === other.readOnly

// The library hands this through to where a server is made for a request.
const authInfoOf = ({ caller, readOnly }: Rights): AuthInfo => ({
  token: "",
  clientId: caller.name,
  scopes: [],
  extra: { role: caller.role, readOnly }
})

const roleIn = (role: unknown) => role === "operator" || role === "viewer" ? role : anonymousCaller.role

const rightsIn = (authInfo: AuthInfo | undefined): Rights => ({
  caller: {
    name: authInfo?.clientId ?? anonymousCaller.name,
    role: roleIn(authInfo?.extra?.["role"])
  },
  readOnly: authInfo?.extra?.["readOnly"] !== false
})

const refusal = (status: number, code: number, message: string) =>
  Response.json({ jsonrpc: "2.0", id: null, error: { code, message } }, { status })

const gone = () =>
  refusal(404, -32_001, "This session has ended or was never begun here: begin a new one with initialize")

const full = () =>
  refusal(503, -32_000, `There are ${mostSessions} sessions already: end one, or try again in a minute`)

/**
 * Answers agents over HTTP. Those that speak the protocol of 2026-07-28 need no session; older ones get one, which ends
 * when they end it, when they are silent for ten minutes, or with the scope.
 */
export const agentSessions = (
  offerFor: OfferFor,
  runAs: (caller: Caller) => RunRequest
): Effect.Effect<(asked: AgentRequest) => Effect.Effect<Response>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const sessions = new Map<string, Session>()
    const serverFor = ({ caller, readOnly }: Rights) => agentServer(offerFor({ readOnly }), runAs(caller))
    const modern = createMcpHandler(({ authInfo }) => serverFor(rightsIn(authInfo)), { legacy: "reject" })

    const end = (id: string) =>
      Effect.suspend(() => {
        const session = sessions.get(id)
        sessions.delete(id)
        return session === undefined ? Effect.void : Effect.promise(() => session.transport.close())
      })
    const endSilent = (now: number, silentFor: number) =>
      Effect.forEach(
        [...sessions].filter(([, { lastUsed }]) => now - lastUsed >= silentFor),
        ([id]) => end(id),
        { discard: true }
      )

    yield* Effect.addFinalizer(() =>
      Effect.all([
        Effect.promise(() => modern.close()),
        Effect.forEach([...sessions.keys()], end)
      ], { discard: true, concurrency: "unbounded" })
    )

    const begin = ({ caller, readOnly }: Rights, now: number) =>
      Effect.promise(async () => {
        const transport = new WebStandardStreamableHTTPServerTransport({
          sessionIdGenerator: randomUUID,
          onsessioninitialized: (id) => void sessions.set(id, { transport, caller, readOnly, lastUsed: now }),
          onsessionclosed: (id) => void sessions.delete(id)
        })
        await serverFor({ caller, readOnly }).connect(transport)
        return transport
      })

    const sessionFor = (asked: AgentRequest, now: number) =>
      Effect.gen(function*() {
        const id = asked.request.headers.get("mcp-session-id")
        if (id !== null) {
          const session = sessions.get(id)
          // Nobody goes on with the session of somebody else, or with tools that are hidden by now.
          if (session === undefined || !isSame(session, asked)) return gone()
          session.lastUsed = now
          return session.transport
        }
        const messages: ReadonlyArray<unknown> = Array.isArray(asked.body) ? asked.body : [asked.body]
        if (!messages.some(isInitializeRequest)) return gone()
        if (sessions.size >= mostSessions) yield* endSilent(now, shortIdleMillis)
        return sessions.size >= mostSessions ? full() : yield* begin(asked, now)
      })

    const older = (asked: AgentRequest) =>
      Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        yield* endSilent(now, idleMillis)
        const found = yield* sessionFor(asked, now)
        return found instanceof Response
          ? found
          : yield* Effect.promise(() => found.handleRequest(asked.request, { parsedBody: asked.body }))
      })

    return (asked) =>
      Effect.flatMap(
        Effect.promise(() => isLegacyRequest(asked.request, asked.body)),
        (isOlder) =>
          isOlder
            ? older(asked)
            : Effect.promise(() => modern.fetch(asked.request, { parsedBody: asked.body, authInfo: authInfoOf(asked) }))
      )
  })
