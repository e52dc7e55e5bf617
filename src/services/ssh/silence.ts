import type { Socket } from "node:net"

const tick = 5_000
/** A connection that brings nothing for this many ticks, each with a question to the server, is dead. */
const mostTicks = 4

/**
 * Calls back when a connection has brought nothing for 20 seconds; answers how to stop watching. Whatever comes counts,
 * and not answers alone: on a slow line the questions wait behind what is being sent, for longer than that.
 */
export const onSilence = (socket: Pick<Socket, "bytesRead">, tell: () => void): () => void => {
  let read = socket.bytesRead
  let silent = 0
  const timer = setInterval(() => {
    silent = socket.bytesRead === read ? silent + 1 : 0
    read = socket.bytesRead
    if (silent < mostTicks) return
    clearInterval(timer)
    tell()
  }, tick)
  return () => clearInterval(timer)
}

/** Has ssh2 ask the server for a sign of life at each tick, and leave what to make of it to `onSilence`. */
export const keepAlive = { keepaliveInterval: tick, keepaliveCountMax: Number.POSITIVE_INFINITY }
