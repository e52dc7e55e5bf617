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
import type { OfferFor, RunAgentRequest } from "./requests.ts"
import { makeAgentServer } from "./server.ts"

/** Most sessions of the older protocol per caller. One more ends the caller's least recently used idle session. */
export const mostSessions = 50
/** Idle time after which a session is ended. */
const idleMillis = 10 * 60 * 1000

/** Message of an agent, with the caller of its token and its rights. */
export interface AgentRequest {
  readonly request: Request
  /** Body as JSON; undefined without a body. */
  readonly body: unknown
  readonly caller: Caller
  readonly readOnly: boolean
}

type Rights = Pick<AgentRequest, "caller" | "readOnly">

/** Number of a session's requests under way, and the time of the last request. */
interface Use {
  underWay: number
  lastUsed: number
}

interface Session extends Rights {
  readonly transport: WebStandardStreamableHTTPServerTransport
  readonly use: Use
}

// A session keeps the caller of its first request: a request with any other right is not one of its caller's, even under
// the same name, as after `http.token` was set.
const isSame = (one: Rights, other: Rights) =>
  one.caller.name === other.caller.name && one.caller.role === other.caller.role &&
  one.caller.isLocal === other.caller.isLocal && one.caller.limitedBy === other.caller.limitedBy &&
  one.readOnly === other.readOnly

// The library passes this to the factory that makes a server for a request.
const authInfoOf = ({ caller, readOnly }: Rights): AuthInfo => ({
  token: "",
  clientId: caller.name,
  scopes: [],
  extra: { role: caller.role, isLocal: caller.isLocal === true, readOnly }
})

const roleIn = (role: unknown) => role === "operator" || role === "viewer" ? role : anonymousCaller.role

const rightsIn = (authInfo: AuthInfo | undefined): Rights => ({
  caller: {
    name: authInfo?.clientId ?? anonymousCaller.name,
    role: roleIn(authInfo?.extra?.["role"]),
    ...(authInfo?.extra?.["isLocal"] === true ? { isLocal: true } : {})
  },
  readOnly: authInfo?.extra?.["readOnly"] !== false
})

const refusal = (status: number, code: number, message: string) =>
  Response.json({ jsonrpc: "2.0", id: null, error: { code, message } }, { status })

const gone = () =>
  refusal(404, -32_001, "This session has ended or was never begun here: begin a new one with initialize")

const full = () =>
  refusal(
    429,
    -32_000,
    `All of the ${mostSessions} sessions that a token may have are busy: end one, or try again when one has its answer`
  )

/** Counts the requests of a session while they run. */
const counting = (run: RunAgentRequest, use: Use): RunAgentRequest => (effect, options) =>
  run(
    Effect.acquireUseRelease(
      Effect.sync(() => use.underWay += 1),
      () => effect,
      () =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          use.underWay -= 1
          use.lastUsed = now
        })
    ),
    options
  )

/**
 * Answers agents over HTTP; clients of protocol 2026-07-28 need no session. Sessions of older clients end on request,
 * with the scope, or when a later request finds them idle for ten minutes.
 */
export const makeAgentSessions = (
  offerFor: OfferFor,
  runAs: (caller: Caller) => RunAgentRequest
): Effect.Effect<(asked: AgentRequest) => Effect.Effect<Response>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const sessions = new Map<string, Session>()
    const serverFor = ({ readOnly }: Rights, run: RunAgentRequest) => makeAgentServer(offerFor({ readOnly }), run)
    const modern = createMcpHandler(({ authInfo }) => {
      const rights = rightsIn(authInfo)
      return serverFor(rights, runAs(rights.caller))
    }, { legacy: "reject" })
    // Serializes `initialize`: a session is stored with its answer, so concurrent requests would all pass the limit.
    const oneAtATime = yield* Effect.makeSemaphore(1)

    const end = (id: string) =>
      Effect.suspend(() => {
        const session = sessions.get(id)
        sessions.delete(id)
        return session === undefined ? Effect.void : Effect.promise(() => session.transport.close())
      })
    const endSilent = (now: number) =>
      Effect.forEach(
        [...sessions].filter(([, { use }]) => use.underWay === 0 && now - use.lastUsed >= idleMillis),
        ([id]) => end(id),
        { discard: true }
      )

    /**
     * Makes room for one more session of a caller by ending its oldest idle one, never another caller's. Returns false
     * if all are busy.
     */
    const hasRoom = ({ caller: { name } }: Rights) =>
      Effect.gen(function*() {
        const own = [...sessions].filter(([, { caller }]) => caller.name === name)
        if (own.length < mostSessions) return true
        const idle = own.filter(([, { use }]) => use.underWay === 0)
          .sort(([, one], [, other]) => one.use.lastUsed - other.use.lastUsed)
        const [oldest] = idle
        if (oldest === undefined) return false
        yield* end(oldest[0])
        return true
      })

    yield* Effect.addFinalizer(() =>
      Effect.all([
        Effect.promise(() => modern.close()),
        Effect.forEach([...sessions.keys()], end)
      ], { discard: true, concurrency: "unbounded" })
    )

    const transportFor = ({ caller, readOnly }: Rights, lastUsed: number) =>
      Effect.promise(async () => {
        const use: Use = { underWay: 0, lastUsed }
        const transport = new WebStandardStreamableHTTPServerTransport({
          sessionIdGenerator: randomUUID,
          onsessioninitialized: (id) => void sessions.set(id, { transport, caller, readOnly, use }),
          onsessionclosed: (id) => void sessions.delete(id)
        })
        await serverFor({ caller, readOnly }, counting(runAs(caller), use)).connect(transport)
        return transport
      })

    const answerBy = (transport: Session["transport"], { body, request }: AgentRequest) =>
      Effect.promise(() => transport.handleRequest(request, { parsedBody: body }))

    const begin = (asked: AgentRequest, now: number) =>
      Effect.gen(function*() {
        if (!(yield* hasRoom(asked))) return full()
        return yield* answerBy(yield* transportFor(asked, now), asked)
      })

    const older = (asked: AgentRequest) =>
      Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        yield* endSilent(now)
        const id = asked.request.headers.get("mcp-session-id")
        const session = id === null ? undefined : sessions.get(id)
        // Rejects a session of another caller, and one that was opened with other rights and thus other tools.
        if (session !== undefined && isSame(session, asked)) {
          session.use.lastUsed = now
          return yield* answerBy(session.transport, asked)
        }
        const messages: ReadonlyArray<unknown> = Array.isArray(asked.body) ? asked.body : [asked.body]
        if (id !== null || !messages.some(isInitializeRequest)) return gone()
        return yield* oneAtATime.withPermits(1)(begin(asked, now))
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
