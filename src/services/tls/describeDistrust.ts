import type { PeerCertificate } from "node:tls"
import { cut } from "../../schema/words/quoted.ts"

const mostNames = 5
const unknownAuthority = "it is signed by an authority that browsers do not know"

const words: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "it has ended",
  CERT_NOT_YET_VALID: "it is not valid yet",
  CERT_REVOKED: "it has been revoked",
  DEPTH_ZERO_SELF_SIGNED_CERT: "it is signed by itself, and not by an authority",
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `${unknownAuthority}, or the server leaves out those in between`
}

/** Names that a certificate is valid for. */
const namesOf = ({ subjectaltname = "" }: PeerCertificate): string => {
  const names = subjectaltname.split(", ").flatMap((name) => name.startsWith("DNS:") ? [name.slice(4)] : [])
  if (names.length === 0) return "other names"
  const others = names.length - mostNames
  return cut(names.slice(0, mostNames).join(", ")) + (others > 0 ? ` and ${others} more names` : "")
}

/**
 * Describes the reason why browsers do not trust a certificate.
 * @param code error code of Node.js's verification
 */
export const describeDistrust = (code: string, certificate: PeerCertificate): string => {
  // Traefik serves this one until it has a certificate for the domain.
  if (String(certificate.subject?.CN ?? "") === "TRAEFIK DEFAULT CERT") {
    return "it is the proxy's default certificate, since the proxy has none for the domain"
  }
  return code === "ERR_TLS_CERT_ALTNAME_INVALID" ? `it is for ${namesOf(certificate)}` : words[code] ?? code
}
