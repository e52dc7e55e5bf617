import { Effect } from "effect"
import type { Scope } from "effect"
import type { Server } from "node:net"
import { SandboxFailed } from "./SandboxFailed.ts"

/** The address that every part of the sandbox listens on. */
export const loopback = "127.0.0.1"

/**
 * Makes a server listen on a port of the loopback address, a free one when it is 0, until the scope closes. Answers
 * the port. Closing waits for its connections: whoever has some cuts them first.
 */
export const listenOnLoopback = (
  part: string,
  server: Server,
  port = 0
): Effect.Effect<number, SandboxFailed, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.async<number, SandboxFailed>((resume) => {
      server.once("error", ({ message }) => resume(Effect.fail(new SandboxFailed({ part, reason: message }))))
      server.listen(port, loopback, () => {
        const address = server.address()
        resume(
          address === null || typeof address === "string"
            ? Effect.fail(new SandboxFailed({ part, reason: "it has no port" }))
            : Effect.succeed(address.port)
        )
      })
    }),
    () => Effect.async<void>((resume) => void server.close(() => resume(Effect.void)))
  )
