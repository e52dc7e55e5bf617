import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Session, SessionRequest } from "../../schema/session.ts"
import { SessionTicket } from "../../schema/tokens.ts"
import { done } from "../../schema/validation.ts"
import * as failures from "./annotations.ts"
import { annotateFailures, forAnyone, forOperators, forViewers, hostCookie, plainCookie } from "./annotations.ts"

/** Browser sessions: a page cannot store a token where scripts cannot read it. */
export class SessionApi extends HttpApiGroup.make("session", { topLevel: true })
  .add(
    HttpApiEndpoint.post("openSession", "/api/session").annotateContext(forAnyone)
      .annotateContext(
        annotateFailures(failures.body, [
          401,
          "The token is not one of the settings, or the ticket cannot be redeemed."
        ])
      )
      .setPayload(SessionRequest)
      .addSuccess(Session)
      .annotate(OpenApi.Summary, "Log in")
      .annotate(
        OpenApi.Description,
        "Opens a session for a token: its cookie replaces the token, for requests of pages of this " +
          `service. It is ${plainCookie} on http and ${hostCookie} on https. A session whose cookie the request carries ` +
          "is ended. Where no token is needed there is no cookie either. A ticket takes the place of a token, once."
      )
  )
  .add(
    HttpApiEndpoint.post("issueTicket", "/api/session/ticket").annotateContext(forOperators)
      .annotateContext(
        annotateFailures(failures.noBody, [403, "The caller is not a program of the service's own user."])
      )
      .addSuccess(SessionTicket)
      .annotate(OpenApi.Summary, "Issue a log-in ticket")
      .annotate(
        OpenApi.Description,
        "A ticket that logs in one browser of the service's own user on this machine, within a minute. Only programs " +
          "of that user get one, which is what berth open does."
      )
  )
  .add(
    HttpApiEndpoint.get("showSession", "/api/session").annotateContext(forViewers)
      .annotateContext(annotateFailures())
      .addSuccess(Session)
      .annotate(OpenApi.Summary, "Show who is asking")
      .annotate(OpenApi.Description, "The name and the role of the caller.")
  )
  .add(
    HttpApiEndpoint.del("closeSession", "/api/session").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.noBody))
      .addSuccess(Schema.Struct({ success: done }))
      .annotate(OpenApi.Summary, "Log out")
      .annotate(OpenApi.Description, "Ends the session and takes its cookie away.")
  )
  .annotate(OpenApi.Title, "Session")
  .annotate(OpenApi.Description, "Logging in with a browser.")
{}
