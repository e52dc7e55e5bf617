import { Effect } from "effect"
import type { Scope } from "effect"
import { connect, createServer, type Socket } from "node:net"

/** A line between two ends: how long a round trip takes, and how many bits pass in a second each way. */
export interface LineOptions {
  readonly roundTripMillis: number
  readonly bitsPerSecond: number
}

/** A port that leads over a line to another port. */
export interface Line {
  readonly port: number
  /** The bytes that went each way since the last time this was asked. */
  readonly passed: () => { readonly up: number; readonly down: number }
}

/** Bytes that are on their way before the line asks its sender to wait. */
const mostUnderWay = 4 * 1024 * 1024
const piece = 16 * 1024
/** Timers come up to a millisecond late; this much early is as right as that on the whole. */
const early = 0.5

/** Hands the bytes of one socket to another as late, and no faster, than the line allows. */
const carry = (from: Socket, to: Socket, line: LineOptions, count: (bytes: number) => void) => {
  const queue: Array<{ readonly at: number; readonly bytes: Buffer }> = []
  let free = 0
  let waiting = 0
  let ended = false
  let timer: NodeJS.Timeout | undefined
  const deliver = () => {
    timer = undefined
    const now = performance.now()
    for (let first = queue[0]; first !== undefined && first.at <= now + early; first = queue[0]) {
      queue.shift()
      waiting -= first.bytes.length
      to.write(first.bytes)
    }
    if (waiting < mostUnderWay && from.isPaused()) from.resume()
    const next = queue[0]
    if (next !== undefined) timer = setTimeout(deliver, Math.floor(next.at - now))
    else if (ended) to.end()
  }
  from.on("data", (chunk: Buffer) => {
    count(chunk.length)
    for (let start = 0; start < chunk.length; start += piece) {
      const bytes = chunk.subarray(start, start + piece)
      free = Math.max(free, performance.now()) + bytes.length * 8000 / line.bitsPerSecond
      queue.push({ at: free + line.roundTripMillis / 2, bytes })
      waiting += bytes.length
    }
    if (waiting >= mostUnderWay) from.pause()
    timer ??= setTimeout(deliver, Math.floor((queue[0]?.at ?? 0) - performance.now()))
  })
  from.on("end", () => {
    ended = true
    if (queue.length === 0) to.end()
  })
  from.on("error", () => to.destroy())
  from.on("close", () => {
    if (!ended) to.destroy()
  })
}

/** Opens a line to a loopback port; it closes with the scope. */
export const openLine = (target: number, options: LineOptions): Effect.Effect<Line, never, Scope.Scope> =>
  Effect.gen(function*() {
    let passed = { up: 0, down: 0 }
    const sockets = new Set<Socket>()
    const server = yield* Effect.acquireRelease(
      Effect.async<ReturnType<typeof createServer>>((resume) => {
        const server = createServer((near) => {
          const far = connect(target, "127.0.0.1")
          for (const socket of [near, far]) {
            sockets.add(socket)
            socket.setNoDelay(true)
            socket.on("close", () => sockets.delete(socket))
          }
          carry(near, far, options, (bytes) => {
            passed = { ...passed, up: passed.up + bytes }
          })
          carry(far, near, options, (bytes) => {
            passed = { ...passed, down: passed.down + bytes }
          })
        })
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.sync(() => {
          for (const socket of sockets) socket.destroy()
          server.close()
        })
    )
    const address = server.address()
    return {
      port: typeof address === "object" && address !== null ? address.port : 0,
      passed: () => {
        const result = passed
        passed = { up: 0, down: 0 }
        return result
      }
    }
  })
