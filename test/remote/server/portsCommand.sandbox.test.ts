import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmod } from "node:fs/promises"
import { createServer } from "node:net"
import { join } from "node:path"
import { parsePorts, portsCommand } from "../../../src/remote/server.ts"
import { runHere, shells } from "../../layers/RemoteHere.ts"
import { plant, temporaryDirectory } from "../../layers/temporary.ts"

const listening = Effect.acquireRelease(
  Effect.async<{ readonly port: number; readonly close: () => void }>((resume) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = address !== null && typeof address === "object" ? address.port : 0
      resume(Effect.succeed({ port, close: () => server.close() }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

const asked = (shell: (typeof shells)[number], docker: string) =>
  Effect.gen(function*() {
    const [home, programs] = [yield* temporaryDirectory, yield* temporaryDirectory]
    yield* plant(programs, { docker })
    yield* Effect.promise(() => chmod(join(programs, "docker"), 0o755))
    const { code, stdout } = yield* runHere(portsCommand(false), { shell, home, programs })
    return { code, ...parsePorts(stdout) }
  })

describe.each(shells)("listing the ports in use in $name", (shell) => {
  it.scoped("tells sockets and published ports", () =>
    Effect.gen(function*() {
      const { port } = yield* listening
      const docker = "#!/bin/sh\n[ \"$1 $2\" = 'ps --format' ] && echo 'container|web|0.0.0.0:2008->80/tcp'\n"
      const { code, ports, unread } = yield* asked(shell, docker)
      expect([code, unread]).toEqual([0, []])
      expect(ports).toContainEqual({ port, kind: "socket", what: `127.0.0.1:${port}` })
      expect(ports).toContainEqual({ port: 2008, kind: "container", what: "web" })
    }))

  it.scoped("tells the sockets of a server whose Docker does not answer", () =>
    Effect.gen(function*() {
      const { port } = yield* listening
      const { code, ports, unread } = yield* asked(
        shell,
        "#!/bin/sh\necho warning >&2\necho 'permission denied' >&2\nexit 1\n"
      )
      expect([code, unread]).toEqual([0, ["containers: permission denied"]])
      expect(ports.map((one) => one.port)).toContain(port)
    }))
})
