import { describe, expect, it } from "@effect/vitest"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { Deferred, Effect, FastCheck, Fiber } from "effect"
import { Berth } from "../../src/client/Berth.ts"
import { overHandlers } from "../../src/client/node/overHandlers.ts"
import type { Tool } from "../../src/mcp/answers.ts"
import { makeAgentSessions, mostSessions } from "../../src/mcp/makeAgentSessions.ts"
import { makeRunAgentRequest } from "../../src/mcp/requests.ts"
import type { Caller } from "../../src/services/access/Caller.ts"
import { eventually } from "../sandbox/eventually.ts"

const callerOf = (name: string): Caller => ({ name, role: "operator" })
const [ann, bob] = [callerOf("ann"), callerOf("bob")]

/** Sessions of agents with one tool, which answers on demand. */
const started = Effect.gen(function*() {
  const told = yield* Deferred.make<void>()
  let calls = 0
  const seen: Array<Caller> = []
  const wait: Tool = {
    name: "wait",
    title: "Wait",
    description: "Waits.",
    readOnly: true,
    inputSchema: { type: "object" },
    outputSchema: { type: "object" },
    call: () =>
      Effect.sync(() => calls += 1).pipe(
        Effect.zipRight(Deferred.await(told)),
        Effect.as({ structured: {}, text: "waited" })
      )
  }
  const unused = () => Promise.reject(new Error("Nothing is asked here"))
  const berth = yield* overHandlers(unused, {
    door: "mcp",
    outlives: () => Effect.succeed(true),
    elsewhere: () => Effect.succeedNone
  })
  const runAgentRequest = yield* makeRunAgentRequest
  const offer = {
    tools: [wait],
    resources: [],
    resourceTemplates: [],
    read: () => Effect.die("There is nothing to read")
  }
  const answer = yield* makeAgentSessions(
    () => offer,
    (caller) =>
      runAgentRequest((effect) =>
        Effect.zipRight(
          Effect.sync(() => seen.push(caller)),
          Effect.provideService(effect, Berth, berth)
        )
      )
  )
  /** Callers of the requests since the last look. */
  const callers = Effect.sync(() => seen.splice(0))

  const send = (caller: Caller, method: string, params: object, id?: string) =>
    Effect.gen(function*() {
      const headers = {
        "accept": "application/json, text/event-stream",
        "content-type": "application/json",
        ...(id === undefined ? {} : { "mcp-session-id": id })
      }
      const response = yield* answer({
        request: new Request("http://berth.invalid/mcp", { method: "POST", headers }),
        body: { jsonrpc: "2.0", id: 1, method, params },
        caller,
        readOnly: false
      })
      const text = yield* Effect.promise(() => response.text())
      return { status: response.status, id: response.headers.get("mcp-session-id") ?? "", text }
    })
  /** Calls the tool as a client of today's protocol, whose requests have no session. */
  const callModern = (caller: Caller) =>
    Effect.promise(async () => {
      const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } })
      const transport = new StreamableHTTPClientTransport(new URL("http://berth.invalid/mcp"), {
        fetch: async (url, init) => {
          const request = new Request(url, init)
          const text = init?.body === undefined ? undefined : await request.clone().text()
          const body: unknown = text === undefined || text === "" ? undefined : JSON.parse(text)
          return Effect.runPromise(answer({ request, body, caller, readOnly: false }))
        }
      })
      await client.connect(transport)
      const result = await client.callTool({ name: "wait", arguments: {} })
      const protocol = client.getNegotiatedProtocolVersion()
      await client.close()
      return { protocol, text: JSON.stringify(result) }
    })
  const clientInfo = { name: "test", version: "1" }
  const initialize = (caller: Caller) =>
    send(caller, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo })
  const begin = (caller: Caller) => Effect.map(initialize(caller), ({ id }) => id)
  const isOpen = (caller: Caller, id: string) =>
    Effect.map(send(caller, "tools/list", {}, id), ({ status }) => status === 200)
  const callWait = (caller: Caller, id: string) => send(caller, "tools/call", { name: "wait", arguments: {} }, id)
  const areCalled = (count: number) => eventually(Effect.sync(() => calls === count))
  return { areCalled, begin, callers, callModern, callWait, initialize, isOpen, told }
})

describe("the sessions of agents", () => {
  it.scopedLive("make room among their caller's own: the idle one that was used longest ago goes first", () =>
    Effect.gen(function*() {
      const { areCalled, begin, callWait, isOpen, told } = yield* started
      const [busy, second, third] = [yield* begin(ann), yield* begin(ann), yield* begin(ann)]
      const answering = yield* Effect.fork(callWait(ann, busy))
      yield* areCalled(1)
      yield* Effect.replicateEffect(begin(ann), mostSessions - 3)
      yield* Effect.sleep("5 millis")
      expect(yield* isOpen(ann, second)).toBe(true)
      yield* begin(ann)
      expect([yield* isOpen(ann, second), yield* isOpen(ann, third)]).toEqual([true, false])
      yield* Deferred.succeed(told, undefined)
      expect((yield* Fiber.join(answering)).text).toContain("waited")
    }))

  it.scopedLive("are refused to a caller whose own are all busy, and to nobody else", () =>
    Effect.gen(function*() {
      const { areCalled, begin, callWait, initialize, told } = yield* started
      const ids = yield* Effect.replicateEffect(begin(ann), mostSessions)
      const answering = yield* Effect.forEach(ids, (id) => Effect.fork(callWait(ann, id)))
      yield* areCalled(mostSessions)
      expect(yield* initialize(ann)).toMatchObject({ status: 429, text: expect.stringContaining("are busy") })
      expect(yield* initialize(bob)).toMatchObject({ status: 200 })
      yield* Deferred.succeed(told, undefined)
      for (const { status } of yield* Effect.forEach(answering, Fiber.join)) expect(status).toBe(200)
      expect(yield* initialize(ann)).toMatchObject({ status: 200 })
    }))

  it.scopedLive("are used by no caller with other rights, and each request runs with its own", () =>
    Effect.gen(function*() {
      const { begin, callers, callModern, callWait, isOpen, told } = yield* started
      yield* Deferred.succeed(told, undefined)
      const all: ReadonlyArray<Caller> = [
        { name: "ann", role: "operator", isLocal: true },
        { name: "ann", role: "operator" },
        { name: "ann", role: "viewer" },
        { name: "ann", role: "viewer", limitedBy: "mcp.readOnly" },
        { name: "bob", role: "operator", isLocal: true }
      ]
      for (const first of all) {
        const id = yield* begin(first)
        const open = yield* Effect.filter(all, (caller) => isOpen(caller, id))
        expect([first, open]).toEqual([first, [first]])
        expect((yield* callWait(first, id)).text).toContain("waited")
        expect(yield* callers).toEqual([first])
        if (first.limitedBy !== undefined) continue
        expect(yield* callModern(first)).toEqual({ protocol: "2026-07-28", text: expect.stringContaining("waited") })
        expect(yield* callers).toEqual([first])
      }
    }))

  it.scopedLive("of a caller are ended by no other one, in any order and however many begin at once", () =>
    Effect.gen(function*() {
      const sequence = FastCheck.array(
        FastCheck.tuple(FastCheck.constantFrom("ann", "bob", "cem"), FastCheck.integer({ min: 1, max: mostSessions })),
        { minLength: 6, maxLength: 8 }
      )
      for (const steps of FastCheck.sample(sequence, 3)) {
        const { begin, isOpen } = yield* started
        const begun = new Map<string, Array<string>>()
        for (const [name, count] of steps) {
          const ids = yield* Effect.replicateEffect(begin(callerOf(name)), count, { concurrency: "unbounded" })
          begun.set(name, [...begun.get(name) ?? [], ...ids])
        }
        for (const [name, ids] of begun) {
          const open = yield* Effect.filter(ids, (id) => isOpen(callerOf(name), id))
          expect([name, open.length, steps]).toEqual([name, Math.min(ids.length, mostSessions), steps])
        }
      }
    }))
})
