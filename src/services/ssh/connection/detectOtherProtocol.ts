/** Greetings of other protocols, and their replies to SSH's own greeting. */
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
 * Recognizes another protocol by its first bytes. Unknown bytes may still become SSH: a server may send other lines
 * before its identification (RFC 4253, 4.2).
 */
export const detectOtherProtocol = (first: Uint8Array): string | undefined => {
  const begin = Buffer.from(first.subarray(0, 32)).toString("latin1")
  return greetings.find(([pattern]) => pattern.test(begin))?.[1]
}
