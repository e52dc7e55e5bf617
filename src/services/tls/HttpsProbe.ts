import { Context, type Effect } from "effect"
import type { HttpsFailed } from "../../schema/applications/Verify.ts"

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
