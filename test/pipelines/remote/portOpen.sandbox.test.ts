import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer } from "node:net"
import { portOpenCommand, portOpenExit } from "../../../src/pipelines/remote/portOpen.ts"
import { runHere, shells } from "../../layers/RemoteHere.ts"
import { temporaryDirectory } from "../../layers/temporary.ts"

describe("trying a port", () => {
  it.scopedLive.each(shells)(
    "tells whether it takes a connection, or that it cannot tell, in $name",
    (shell) =>
      Effect.gen(function*() {
        const home = yield* temporaryDirectory
        const { close, port } = yield* Effect.async<{ readonly port: number; readonly close: () => void }>((resume) => {
          const server = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1", () => {
            const address = server.address()
            const port = address !== null && typeof address === "object" ? address.port : 0
            resume(Effect.succeed({ port, close: () => server.close() }))
          })
        })
        const asked = Effect.map(runHere(portOpenCommand("127.0.0.1", port), { shell, home }), ({ code }) => code)
        expect([portOpenExit.open, portOpenExit.untold]).toContain(yield* asked)
        close()
        expect([portOpenExit.closed, portOpenExit.untold]).toContain(yield* asked)
      })
  )
})
