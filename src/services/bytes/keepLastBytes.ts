const smallest = 4 * 1024

/**
 * Keeps the last bytes of a stream, up to a limit. The cost depends on the number of bytes, not on the size of the
 * chunks.
 */
export const keepLastBytes = (limit: number) => {
  // Chunks are appended; when the buffer is full, its last `limit` bytes move to the front.
  const most = limit + Math.max(smallest, Math.ceil(limit / 4))
  let memory = Buffer.allocUnsafe(Math.min(most, smallest))
  let used = 0
  let total = 0
  const makeRoom = (wanted: number): void => {
    if (used + wanted > most) {
      const kept = Math.min(used, limit)
      memory.copyWithin(0, used - kept, used)
      used = kept
    }
    if (used + wanted <= memory.length) return
    const larger = Buffer.allocUnsafe(Math.min(most, Math.max(2 * memory.length, used + wanted)))
    memory.copy(larger, 0, 0, used)
    memory = larger
  }
  return {
    add: (chunk: Uint8Array): void => {
      total += chunk.length
      const step = most - limit
      const last = chunk.length > limit ? chunk.subarray(chunk.length - limit) : chunk
      for (let at = 0; at < last.length; at += step) {
        const piece = last.subarray(at, at + step)
        makeRoom(piece.length)
        memory.set(piece, used)
        used += piece.length
      }
    },
    /** The bytes as UTF-8. Invalid bytes become replacement characters; a truncated character is omitted. */
    text: (): string => {
      const last = memory.subarray(Math.max(0, used - limit), used)
      if (total <= limit) return last.toString("utf8")
      const start = last.subarray(0, 3).findIndex((byte) => (byte & 0xc0) !== 0x80)
      return last.subarray(start < 0 ? 0 : start).toString("utf8")
    },
    truncated: (): boolean => total > limit
  }
}
