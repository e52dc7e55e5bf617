import { describe, expect, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { spawnSync } from "node:child_process"
import { chmodSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { portOpenCommand, portOpenExit } from "../../../src/remote/server.ts"
import { patience } from "../../fixtures/patience.ts"
import { runHere, shells } from "../../layers/RemoteHere.ts"
import { temporaryDirectory } from "../../layers/temporary.ts"

const loopback = ["127.0.0.1", "::1"]
const pathOf = (program: string) => spawnSync("sh", ["-c", `command -v ${program}`], { encoding: "utf8" }).stdout.trim()

/** Listens at a loopback address; answers the port, or nothing where the machine has no such address. */
const listener = (host: string): Effect.Effect<number | undefined, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.async<{ readonly port?: number; readonly close: () => void }>((resume) => {
        const server = createServer((socket) => socket.destroy())
        server.on("error", () => resume(Effect.succeed({ close: () => undefined })))
        server.listen(0, host, () => {
          const address = server.address()
          const port = address !== null && typeof address === "object" ? address.port : 0
          resume(Effect.succeed({ port, close: () => server.close() }))
        })
      }),
      ({ close }) => Effect.sync(close)
    ),
    ({ port }) => port
  )

/** A server that has only these programs, and the stand-ins that are given as scripts. */
const serverWith = (programs: ReadonlyArray<string>, standIns: Readonly<Record<string, string>> = {}) =>
  Effect.map(temporaryDirectory, (path) => {
    for (const name of ["sh", "awk", "grep", ...programs]) symlinkSync(pathOf(name), join(path, name))
    for (const [name, script] of Object.entries(standIns)) {
      writeFileSync(join(path, name), `#!/bin/sh\n${script}\n`)
      chmodSync(join(path, name), 0o755)
    }
    return { shell: { name: "sh", path }, home: path }
  })

describe("trying a port", () => {
  it.scopedLive.each(shells)(
    "tells whether it takes a connection, or that it cannot tell, in $name",
    (shell) =>
      Effect.gen(function*() {
        const home = yield* temporaryDirectory
        const asked = (port: number) =>
          Effect.map(runHere(portOpenCommand("127.0.0.1", port), { shell, home }), ({ code }) => code)
        const port = yield* Effect.scoped(Effect.gen(function*() {
          const open = (yield* listener("127.0.0.1")) ?? 0
          expect([portOpenExit.open, portOpenExit.untold]).toContain(yield* asked(open))
          return open
        }))
        expect([portOpenExit.closed, portOpenExit.untold]).toContain(yield* asked(port))
      })
  )

  const tools = [["bash", "timeout"], ["curl"]].filter((programs) => programs.every((name) => pathOf(name) !== ""))
  it.scopedLive.each(tools.flatMap((programs) => loopback.map((host) => [programs, host] as const)))(
    "works with %j alone, at %s",
    ([programs, host]) =>
      Effect.gen(function*() {
        const here = yield* serverWith(programs)
        const asked = (port: number) => Effect.map(runHere(portOpenCommand(host, port), here), ({ code }) => code)
        const port = yield* Effect.scoped(Effect.gen(function*() {
          const open = yield* listener(host)
          if (open !== undefined) expect(yield* asked(open)).toBe(portOpenExit.open)
          return open
        }))
        if (port !== undefined) expect(yield* asked(port)).toBe(portOpenExit.closed)
      }),
    30_000 * patience
  )

  // The duration shows that it connected: an open port without data ends with 28 too.
  it.scopedLive.each([
    ["0.000000", portOpenExit.closed],
    ["0,000000", portOpenExit.closed],
    ["", portOpenExit.closed],
    ["0.000312", portOpenExit.open]
  ])("takes a curl that timed out after connecting in %s s for %i", ([took, code]) =>
    Effect.gen(function*() {
      const here = yield* serverWith([], { curl: `printf '%s' '${took}'; exit 28` })
      expect((yield* runHere(portOpenCommand("10.0.0.1", 80), here)).code).toBe(code)
    }))

  it.scopedLive("hands curl an address of IPv6 in brackets", () =>
    Effect.gen(function*() {
      const here = yield* serverWith([], { curl: "for last; do :; done; echo \"$last\" >&2; exit 7" })
      expect((yield* runHere(portOpenCommand("fd00::1", 80), here)).stderr.trim()).toBe("telnet://[fd00::1]:80")
      expect((yield* runHere(portOpenCommand("host.test", 80), here)).stderr.trim()).toBe("telnet://host.test:80")
    }))

  it.scopedLive("cannot tell without any of its programs", () =>
    Effect.gen(function*() {
      const here = yield* serverWith([])
      expect((yield* runHere(portOpenCommand("127.0.0.1", 80), here)).code).toBe(portOpenExit.untold)
    }))
})
