/** How programs begin that greet, or answer SSH's own greeting, in words of their own. */
const greetings: ReadonlyArray<readonly [RegExp, string]> = [
  [/^(?:HTTP\/|<(?:!doctype|html))/i, "HTTP"],
  [/^[\x15\x16]\x03/, "TLS"],
  [/^220[ -]/, "SMTP or FTP"],
  [/^(?:\+OK|\* OK)/, "mail"],
  [/^-ERR/, "Redis"],
  [/^RFB /, "VNC"],
  [/^(?:.\0\0\0[\x09\x0a\xff])/s, "MySQL"]
]

/**
 * What a program speaks in place of SSH, by the first bytes that it sent; nothing where that may still become SSH: a
 * server may send lines of its own before its greeting.
 */
export const otherProtocol = (first: Uint8Array): string | undefined => {
  const begin = Buffer.from(first.subarray(0, 32)).toString("latin1")
  return greetings.find(([pattern]) => pattern.test(begin))?.[1]
}
