import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { connect, type Socket } from "node:net"
import { dirname, join } from "node:path"
import { streamLimit } from "../../src/services/limits.ts"
import { runCli } from "../fixtures/programs/cli.ts"
import { settingsFileWith, startService } from "../fixtures/programs/service.ts"

const tokens = `http:
  tokens:
    - { name: ann, token: ann-open-sesame, role: operator }
    - { name: ben, token: ben-open-sesame, role: viewer }
`

/** Opens a stream and reads its status; it stays open until the socket is destroyed. */
const open = (port: number, path: string, token: string) =>
  Effect.async<readonly [socket: Socket, head: string]>((resume) => {
    const head = `GET ${path} HTTP/1.1\r\nHost: localhost:${port}\r\nAuthorization: Bearer ${token}\r\n\r\n`
    const socket = connect(port, "127.0.0.1", () => socket.write(head))
    socket.once("data", (bytes) => resume(Effect.succeed([socket, bytes.toString()])))
  })

it.scopedLive("a caller watches as much as one may, and others go on watching", () =>
  Effect.gen(function*() {
    const settingsFile = yield* settingsFileWith("")
    const project = join(dirname(settingsFile), "projects", "slow")
    mkdirSync(project, { recursive: true })
    writeFileSync(join(project, "build-image-tar.sh"), "#!/bin/sh\nsleep 60\n")
    writeFileSync(settingsFile, `projects:\n  root: ${dirname(project)}\n${tokens}`)
    const { port, request } = yield* startService(settingsFile)
    expect((yield* runCli({ settingsFile }, ["trust", project, "--yes"])).code).toBe(0)
    const asAnn = { authorization: "Bearer ann-open-sesame", prefer: "respond-async" }
    const started = yield* request("POST", "/api/container/build", { projectPath: project }, asAnn)
    expect(started.status).toBe(202)
    const id = started.headers.get("berth-run")
    const path = `/api/runs/${id}/events`
    const streams = yield* Effect.forEach(
      Array.from({ length: streamLimit.each }),
      () => open(port, path, "ann-open-sesame"),
      { concurrency: 10 }
    )
    yield* Effect.addFinalizer(() => Effect.sync(() => streams.forEach(([socket]) => socket.destroy())))
    expect(streams.filter(([, head]) => !head.startsWith("HTTP/1.1 200"))).toEqual([])

    for (const further of [path, "/api/servers/1/logs/follow?containerName=web"]) {
      const refused = yield* request("GET", further, undefined, asAnn)
      expect([refused.status, refused.headers.get("retry-after"), refused.body]).toEqual([429, "10", {
        error: `Too many watchers: "ann" has ${streamLimit.each} runs and logs open already, which is as many as can ` +
          "be watched at a time. Stop watching some of them, or ask for the run or the logs as they are"
      }])
    }
    const [ben, head] = yield* open(port, path, "ben-open-sesame")
    expect(head).toMatch(/^HTTP\/1.1 200/)
    ben.destroy()

    // A disconnect frees a place.
    streams[0]?.[0].destroy()
    const again = yield* open(port, path, "ann-open-sesame").pipe(
      Effect.tap(([socket]) => Effect.addFinalizer(() => Effect.sync(() => socket.destroy()))),
      Effect.repeat({ until: ([, head]) => head.startsWith("HTTP/1.1 200"), times: 50 })
    )
    expect(again[1]).toMatch(/^HTTP\/1.1 200/)
    yield* request("POST", `/api/runs/${id}/cancel`, undefined, asAnn)
  }))
