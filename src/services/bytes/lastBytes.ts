/** Keeps the last bytes of a stream, up to a limit. */
export const lastBytes = (limit: number) => {
  const chunks: Array<Uint8Array> = []
  let kept = 0
  let truncated = false
  return {
    add: (chunk: Uint8Array): void => {
      chunks.push(chunk)
      kept += chunk.length
      for (let first = chunks[0]; first !== undefined && kept - first.length >= limit; first = chunks[0]) {
        chunks.shift()
        kept -= first.length
        truncated ||= first.length > 0
      }
    },
    /** The bytes as UTF-8. Bytes that are none show as the replacement character; a letter that was cut is left out. */
    text: (): string => {
      const whole = Buffer.concat(chunks)
      if (!truncated && whole.length <= limit) return whole.toString("utf8")
      const last = whole.subarray(Math.max(0, whole.length - limit))
      const start = last.subarray(0, 3).findIndex((byte) => (byte & 0xc0) !== 0x80)
      return last.subarray(start < 0 ? 0 : start).toString("utf8")
    },
    truncated: (): boolean => truncated || kept > limit
  }
}
