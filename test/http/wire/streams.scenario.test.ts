import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, type Scope } from "effect"
import { appendFileSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeWorld } from "../../../src/sandbox/world.ts"
import { patience } from "../../fixtures/patience.ts"
import { runCli } from "../../fixtures/programs/cli.ts"
import { type Service, startService } from "../../fixtures/programs/service.ts"

const must = <A>(make: () => Promise<A>) => Effect.promise(make)
const tokenOf = (name: string) => `token-of-${name}-0123456789`
const tokens = (roles: Readonly<Record<string, string>>) =>
  `http:\n  tokens:\n${
    Object.entries(roles).map(([name, role]) => `    - { name: ${name}, token: ${tokenOf(name)}, role: ${role} }\n`)
      .join("")
  }`

type Headers = Readonly<Record<string, string>>

const logIn = ({ request, url }: Service, name: string) =>
  Effect.map(
    request("POST", "/api/session", { token: tokenOf(name) }, { origin: url }),
    ({ headers }): Headers => ({ cookie: headers.get("set-cookie")?.split(";")[0] ?? "", origin: url })
  )

/** Opens a stream, and resolves with the time at which it ended by itself. */
const open = ({ url }: Service, path: string, headers: Headers): Effect.Effect<Promise<number>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const leaving = yield* Effect.acquireRelease(
      Effect.sync(() => new AbortController()),
      (controller) => Effect.sync(() => controller.abort())
    )
    // The head of an answer goes out with its first bytes, which may be long in coming.
    const read = async () => {
      const response = await fetch(`${url}${path}`, {
        signal: leaving.signal,
        headers: { accept: "text/event-stream", ...headers }
      })
      expect([response.status, response.headers.get("content-type")], path).toEqual([200, "text/event-stream"])
      for await (const _ of response.body ?? []) continue
      return Date.now()
    }
    const ended = read()
    ended.catch(() => undefined)
    return ended
  })

const agentHeaders = ({ request }: Service, headers: Headers) =>
  Effect.gen(function*() {
    const accept = "application/json, text/event-stream"
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } }
    const begun = yield* request("POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "initialize", params }, {
      ...headers,
      accept
    })
    return { ...headers, "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" }
  })

describe.skipIf(process.platform === "win32")("a stream of events", () => {
  it.scopedLive("ends with what its caller was let in by, and with nothing else", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const names = ["removed", "lowered", "changed", "closed", "kept"]
      const everybody = { ...Object.fromEntries(names.map((name) => [name, "operator"])), viewer: "viewer" }
      const projectPath = join(world.projects, "hello")
      const wait = "#!/bin/sh\nsleep 60\n"
      writeFileSync(join(projectPath, "build-image-tar.ps1"), wait)
      writeFileSync(join(projectPath, "build-image-tar.sh"), wait)
      const before = readFileSync(world.settingsFile, "utf8")
      appendFileSync(world.settingsFile, tokens(everybody))
      const service = yield* startService(world.settingsFile)
      expect((yield* runCli({ settingsFile: world.settingsFile }, ["trust", projectPath, "--yes"])).code).toBe(0)
      const bearer = (name: string): Headers => ({ authorization: `Bearer ${tokenOf(name)}` })
      const wanted = { projectPath, serverId: world.serverId, remotePath: "~/containers/hello" }
      expect((yield* service.request("POST", "/api/container/deploy", wanted, bearer("kept"))).status).toBe(200)
      const { body } = yield* service.request("POST", "/api/container/build", { projectPath }, {
        ...bearer("kept"),
        prefer: "respond-async"
      })
      const run = JSON.parse(JSON.stringify(body))
      yield* Effect.addFinalizer(() => service.request("POST", `/api/runs/${run.id}/cancel`, undefined, bearer("kept")))

      const events = `/api/runs/${run.id}/events`
      const follow = `/api/servers/${world.serverId}/logs/follow?remotePath=${wanted.remotePath}`
      const openAll = (paths: ReadonlyArray<string>, headers: Headers) =>
        Effect.gen(function*() {
          const agent = yield* agentHeaders(service, headers)
          return yield* Effect.forEach([...paths, "/mcp"], (path) =>
            open(service, path, path === "/mcp" ? agent : headers))
        })
      const both = (name: string) =>
        Effect.gen(function*() {
          const session = yield* logIn(service, name)
          return {
            session,
            streams: [...(yield* openAll([events], bearer(name))), ...(yield* openAll([events, follow], session))]
          }
        })
      const viewer = yield* both("viewer")
      const [removed, lowered, changed, closed, kept] = yield* Effect.forEach(names, both)
      if (closed === undefined || kept === undefined) {
        return
      }

      const withoutRemoved = tokens({
        lowered: "viewer",
        changed: "operator",
        closed: "operator",
        kept: "operator",
        viewer: "viewer"
      })
      const changedAt = Date.now()
      writeFileSync(
        world.settingsFile,
        `${before}${withoutRemoved.replace(tokenOf("changed"), "another-token-0123456789")}`
      )
      yield* service.request("DELETE", "/api/session", undefined, closed.session)
      const ending = [removed, lowered, changed].flatMap((each) =>
        each?.streams ?? []
      )
      const all = [...ending, ...closed.streams.slice(2)]
      expect(all).toHaveLength(18)
      const ends = yield* Effect.timeoutFail(must(() => Promise.all(all)), {
        duration: "20 seconds",
        onTimeout: () => new Error("A stream goes on without its token or session")
      })
      expect(Math.max(...ends) - changedAt).toBeLessThan(10_000)

      const others = [...kept.streams, ...viewer.streams, ...closed.streams.slice(0, 2)]
      const first = yield* Effect.raceFirst(
        must(() => Promise.race(others)),
        Effect.as(Effect.sleep(Duration.millis(Math.max(0, changedAt + 4_000 - Date.now()))), "all are open")
      )
      expect(first).toBe("all are open")
      expect((yield* service.request("GET", "/api/session", undefined, kept.session)).status).toBe(200)
    }), 60_000 * patience)
})
