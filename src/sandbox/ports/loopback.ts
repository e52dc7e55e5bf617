import { Effect, type Scope } from "effect"
import type { Server } from "node:net"
import { SandboxFailed } from "./SandboxFailed.ts"

/** Listen address of every part of the sandbox. */
export const loopback = "127.0.0.1"

/**
 * Listens on a loopback port until the scope closes, and returns the port; 0 picks a free one. Closing waits for open
 * connections, which the caller ends first.
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
