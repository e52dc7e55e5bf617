import { Context, type Effect } from "effect"
import type { HttpsFailed } from "../../schema/Verify.ts"

/** Where to ask, and for which domain. */
export interface HttpsQuestion {
  /** The address that is connected to, whatever the domain resolves to. */
  readonly address: string
  readonly port: number
  readonly domain: string
}

/** What a server answered to a request for a domain's first page. */
export interface HttpsAnswer {
  readonly httpStatus: number
  /** Who issued its certificate. */
  readonly issuer: string
  /** Whole days until the certificate ends; negative when it has. */
  readonly daysLeft: number
  /** Why a browser would not trust the certificate for this domain; null when it would. */
  readonly distrust: string | null
}

/** One HTTPS request to an address of one's choosing. */
export class HttpsProbe extends Context.Tag("berth/HttpsProbe")<HttpsProbe, {
  readonly ask: (question: HttpsQuestion) => Effect.Effect<HttpsAnswer, HttpsFailed>
}>() {}
