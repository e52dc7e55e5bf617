import { createHash } from "node:crypto"

/** Public key of a server, in wire format. */
export interface HostKey {
  /** Type named in the key itself: `ssh-ed25519`, `ecdsa-sha2-nistp256`, `ssh-rsa`. */
  readonly type: string
  readonly blob: Uint8Array
}

/** A key's fingerprint as OpenSSH prints it: `SHA256:` and base64 without padding. */
export const computeFingerprint = (blob: Uint8Array): string =>
  `SHA256:${createHash("sha256").update(blob).digest("base64").replace(/(?<!=)=+$/, "")}`

/** Reads a key's type from its wire form: a length of four bytes, then the name. */
export const parseHostKey = (blob: Uint8Array): HostKey => {
  const bytes = Buffer.from(blob)
  const length = bytes.length < 4 ? 0 : bytes.readUInt32BE(0)
  return { type: bytes.subarray(4, 4 + length).toString("latin1"), blob: bytes }
}
