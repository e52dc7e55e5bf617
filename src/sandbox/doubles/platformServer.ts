import { Effect, Redacted, type Scope } from "effect"
import type { SandboxFailed } from "../ports/SandboxFailed.ts"
import { type DoubleRequest, type HttpDouble, makeHttpDouble } from "./httpDouble.ts"
import type { DoubleReply } from "./httpFault.ts"
import type { Refused } from "./Refused.ts"

export const replyOk = (body: unknown): DoubleReply => ({ status: 200, body })
export const replyCreated = (body: unknown): DoubleReply => ({ status: 201, body })

const refused = ({ fields, what, why }: Refused): DoubleReply => {
  switch (why) {
    case "missing":
      return { status: 404, body: { message: `${what} not found.` } }
    case "taken":
      return { status: 409, body: { message: `${what} already exists. Use PATCH request to update it.` } }
    case "invalid":
      return { status: 422, body: { message: "Validation failed.", errors: fields } }
  }
}

/** Starts a platform on a free loopback port; requires `Authorization: Bearer <token>`. */
export const makePlatformServer = (
  token: Redacted.Redacted,
  answer: (request: DoubleRequest) => Effect.Effect<DoubleReply, Refused>
): Effect.Effect<HttpDouble, SandboxFailed, Scope.Scope> =>
  makeHttpDouble({
    part: "platform",
    authorization: Redacted.make(`Bearer ${Redacted.value(token)}`),
    unauthorized: { status: 401, body: { message: "Unauthenticated." } },
    handle: (request) => Effect.catchAll(answer(request), (why) => Effect.succeed(refused(why)))
  })
