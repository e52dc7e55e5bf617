import { Clock, Effect, Layer } from "effect"
import { isIP } from "node:net"
import { connect, type ConnectionOptions, type PeerCertificate, type TLSSocket } from "node:tls"
import { HttpsFailed } from "../../schema/applications/Verify.ts"
import { readErrorCode } from "../local/readErrorCode.ts"
import { describeSocketError } from "../ssh/connection/connectFailure.ts"
import { describeDistrust } from "./describeDistrust.ts"
import { type HttpsAnswer, HttpsProbe, type HttpsQuestion } from "./HttpsProbe.ts"

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
