import { Stanza } from "age-encryption"
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  hkdfSync,
  type KeyObject,
  randomBytes
} from "node:crypto"
import ssh2 from "ssh2"

/** Stanza type of age for Ed25519 keys of SSH; see `agessh` of filippo.io/age. */
const stanzaType = "ssh-ed25519"
const info = "age-encryption.org/v1/ssh-ed25519"
const keyBytes = 32
const tagBytes = 16
const fileKeyBytes = 16
const nonce = Buffer.alloc(12)

const prime = 2n ** 255n - 19n

const power = (base: bigint, exponent: bigint): bigint => {
  let [result, square] = [1n, base % prime]
  for (let left = exponent; left > 0n; left >>= 1n) {
    if ((left & 1n) === 1n) result = result * square % prime
    square = square * square % prime
  }
  return result
}

/** X25519 public key of an Ed25519 one: u = (1 + y) / (1 - y). */
const toX25519 = (edwards: Uint8Array): Buffer => {
  const reversed = Buffer.from(edwards.toReversed())
  reversed[0] = (reversed[0] ?? 0) & 0x7f
  const y = BigInt(`0x${reversed.toString("hex")}`)
  const u = (1n + y) * power((1n - y + prime) % prime, prime - 2n) % prime
  return Buffer.from(Buffer.from(u.toString(16).padStart(2 * keyBytes, "0"), "hex").toReversed())
}

const publicPrefix = Buffer.from("302a300506032b656e032100", "hex")
const privatePrefix = Buffer.from("302e020100300506032b656e04220420", "hex")
const toPublicKey = (raw: Uint8Array): KeyObject =>
  createPublicKey({ key: Buffer.concat([publicPrefix, raw]), format: "der", type: "spki" })
const toPrivateKey = (raw: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([privatePrefix, raw]), format: "der", type: "pkcs8" })

const multiply = (scalar: Uint8Array, point: Uint8Array): Buffer =>
  diffieHellman({ privateKey: toPrivateKey(scalar), publicKey: toPublicKey(point) })
const rawPublicKey = (scalar: Uint8Array): Buffer =>
  createPublicKey(toPrivateKey(scalar)).export({ format: "der", type: "spki" }).subarray(-keyBytes)

const encodeBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64").replaceAll("=", "")

/** Identifies the SSH key of a stanza. */
const tagOf = (wire: Uint8Array): string => encodeBase64(createHash("sha256").update(wire).digest().subarray(0, 4))

/** Key that wraps the file key, from a shared secret that is bound to the SSH key. */
const wrapKeyFor = (wire: Uint8Array, shared: Uint8Array, ephemeral: Uint8Array, own: Uint8Array): Buffer => {
  const tweak = Buffer.from(hkdfSync("sha256", Buffer.alloc(0), wire, info, keyBytes))
  return Buffer.from(hkdfSync("sha256", multiply(tweak, shared), Buffer.concat([ephemeral, own]), info, keyBytes))
}

/** Ed25519 key in SSH's wire format: its type and the key, each after its length. */
const keyInWire = (wire: Uint8Array): Buffer | undefined => {
  const bytes = Buffer.from(wire)
  const start = Buffer.from(`\0\0\0\u000b${stanzaType}\0\0\0 `, "latin1")
  return bytes.length === start.length + keyBytes && bytes.subarray(0, start.length).equals(start)
    ? bytes.subarray(start.length)
    : undefined
}

/** Recipient of age for an SSH public key, as in an `authorized_keys` file; undefined for any other text. */
export const makeSshRecipient = (line: string) => {
  const [, encoded] = /^ssh-ed25519 ([A-Za-z0-9+/]+={0,2})(?:\s|$)/.exec(line) ?? []
  const wire = encoded === undefined ? undefined : Buffer.from(encoded, "base64")
  const key = wire === undefined ? undefined : keyInWire(wire)
  if (wire === undefined || key === undefined) return undefined
  return {
    wrapFileKey: (fileKey: Uint8Array): Array<Stanza> => {
      const scalar = randomBytes(keyBytes)
      const own = toX25519(key)
      const ephemeral = rawPublicKey(scalar)
      const cipher = createCipheriv(
        "chacha20-poly1305",
        wrapKeyFor(wire, multiply(scalar, own), ephemeral, own),
        nonce,
        { authTagLength: tagBytes }
      )
      const body = Buffer.concat([cipher.update(fileKey), cipher.final(), cipher.getAuthTag()])
      return [new Stanza([stanzaType, tagOf(wire), encodeBase64(ephemeral)], body)]
    }
  }
}

/**
 * Identity of age for an OpenSSH private key without a passphrase. Undefined if the text is another key.
 */
export const makeSshIdentity = (text: string) => {
  const parsed = ssh2.utils.parseKey(text)
  const key = Array.isArray(parsed) ? parsed[0] : parsed
  if (key === undefined || key instanceof Error || key.type !== stanzaType) return undefined
  const wire = key.getPublicSSH()
  const { d } = createPrivateKey(key.getPrivatePEM()).export({ format: "jwk" })
  const scalar = createHash("sha512").update(Buffer.from(d ?? "", "base64url")).digest().subarray(0, keyBytes)
  const own = rawPublicKey(scalar)
  return {
    unwrapFileKey: (stanzas: Array<Stanza>): Uint8Array | null => {
      for (const { args: [type, tag, share], body } of stanzas) {
        if (type !== stanzaType || tag !== tagOf(wire) || share === undefined) continue
        const ephemeral = Buffer.from(share, "base64")
        if (ephemeral.length !== keyBytes || body.length !== fileKeyBytes + tagBytes) {
          throw new Error("its header is damaged")
        }
        const decipher = createDecipheriv(
          "chacha20-poly1305",
          wrapKeyFor(wire, multiply(scalar, ephemeral), ephemeral, own),
          nonce,
          { authTagLength: tagBytes }
        )
        decipher.setAuthTag(body.subarray(fileKeyBytes))
        return new Uint8Array(Buffer.concat([decipher.update(body.subarray(0, fileKeyBytes)), decipher.final()]))
      }
      return null
    }
  }
}
