import type { Socket } from "node:net"

const tick = 1_000
const mostTicks = 20

/** Keepalive of ssh2: a request every 5 seconds, of which `onSilence` alone judges the replies. */
export const keepAlive = { keepaliveInterval: 5_000, keepaliveCountMax: Number.POSITIVE_INFINITY }

/**
 * Calls back when a connection has brought nothing for 20 seconds; answers how to stop watching. Whatever comes counts,
 * and not answers alone: on a slow line the questions wait behind what is being sent, for longer than that.
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
