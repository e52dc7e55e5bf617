import { Clock, Context, Effect, Layer } from "effect"
import { isIP } from "node:net"
import { connect, type ConnectionOptions, type PeerCertificate, type TLSSocket } from "node:tls"
import { HttpsFailed } from "../schema/applications.ts"
import { cut } from "../schema/words.ts"
import { readErrorCode } from "./local/LocalFiles.ts"
import { describeSocketError } from "./ssh/logIn.ts"

/** Address and domain of a probe. */
export interface HttpsQuestion {
  /** Address to connect to, regardless of the one that the domain resolves to. */
  readonly address: string
  readonly port: number
  readonly domain: string
}

/** Response of a server to a request for the root page of a domain. */
export interface HttpsAnswer {
  readonly httpStatus: number
  /** Issuer of its certificate. */
  readonly issuer: string
  /** Whole days until the certificate expires; negative after that. */
  readonly daysLeft: number
  /** Reason why browsers distrust the certificate for this domain; null when they trust it. */
  readonly distrust: string | null
}

/** Sends one HTTPS request to a given address. */
export class HttpsProbe extends Context.Tag("berth/HttpsProbe")<HttpsProbe, {
  readonly ask: (question: HttpsQuestion) => Effect.Effect<HttpsAnswer, HttpsFailed>
}>() {}

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

const longestLine = 16 * 1024
const dayMillis = 24 * 60 * 60 * 1000

const textOf = (value: string | ReadonlyArray<string> | undefined): string =>
  typeof value === "string" ? value : value?.[0] ?? ""

const issuerOf = ({ issuer }: PeerCertificate): string =>
  textOf(issuer?.O) || textOf(issuer?.CN) || "an issuer without a name"

const answerOf = (socket: TLSSocket, line: string, now: number): HttpsAnswer | undefined => {
  const [, status] = /^HTTP\/1\.[01] (\d{3})/.exec(line) ?? []
  if (status === undefined) return undefined
  const certificate = socket.getPeerCertificate()
  return {
    httpStatus: Number(status),
    issuer: issuerOf(certificate),
    daysLeft: Math.floor((Date.parse(certificate.valid_to) - now) / dayMillis),
    distrust: socket.authorized ? null : describeDistrust(String(socket.authorizationError), certificate)
  }
}

const tlsWords: Readonly<Record<string, string>> = {
  ERR_SSL_WRONG_VERSION_NUMBER: "what answers there does not speak TLS",
  ERR_SSL_TLSV1_UNRECOGNIZED_NAME: "it has no certificate for the domain",
  ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR: "it could not agree on a certificate for the domain"
}

const reasonOf = (error: Error): string => tlsWords[readErrorCode(error)] ?? describeSocketError(error)

/** @param trusted additional trusted certificates in PEM, besides those of the system */
export const makeHttpsProbe = (trusted: Pick<ConnectionOptions, "ca"> = {}) => ({
  ask: ({ address, domain, port }: HttpsQuestion): Effect.Effect<HttpsAnswer, HttpsFailed> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Effect.async<HttpsAnswer, HttpsFailed>((resume) => {
        const fail = (reason: string) => resume(new HttpsFailed({ reason }))
        // A certificate that browsers refuse is reported and is not a failure: it is the subject of the probe.
        const socket = connect({
          ...trusted,
          host: address,
          port,
          ...(isIP(domain) === 0 ? { servername: domain } : {}),
          rejectUnauthorized: false,
          ALPNProtocols: ["http/1.1"]
        })
        let line = ""
        socket.once("secureConnect", () =>
          socket.write(`GET / HTTP/1.1\r\nHost: ${domain}\r\nUser-Agent: berth\r\nConnection: close\r\n\r\n`))
        socket.on("data", (chunk: Buffer) => {
          line += chunk.toString("latin1")
          if (!line.includes("\n") && line.length < longestLine) {
            return
          }
          const answer = answerOf(socket, line, now)
          if (answer === undefined) {
            fail("the answer is not HTTP")
          } else resume(Effect.succeed(answer))
          socket.destroy()
        })
        socket.on("error", (error) =>
          fail(reasonOf(error)))
        socket.on("close", () => fail("the connection was closed without an answer"))
        return Effect.sync(() => socket.destroy())
      }))
})

/** HTTPS over the network, with the certificates that Node.js trusts. */
export const HttpsProbeLive: Layer.Layer<HttpsProbe> = Layer.succeed(HttpsProbe, HttpsProbe.of(makeHttpsProbe()))
