import type { Socket } from "node:net"

const tick = 1_000
const mostTicks = 20

/** Keepalive of ssh2: a request every 5 seconds. Only `onSilence` evaluates the replies. */
export const keepAlive = { keepaliveInterval: 5_000, keepaliveCountMax: Number.POSITIVE_INFINITY }

/**
 * Calls back when a connection has received nothing for 20 seconds; returns a function that stops watching. Any
 * received data counts, not only replies: on a slow line the requests queue behind outgoing data for longer than that.
 */
export const watchSilence = (socket: Pick<Socket, "bytesRead">, tell: () => void): () => void => {
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
