import { HttpApi, type HttpApiGroup } from "@effect/platform"
import { Context, Option } from "effect"

/** A documented failure: its status and its condition. */
export type Reason = readonly [status: number, when: string]

export const query: Reason = [400, "A query parameter is unknown or does not fit."]
export const body: ReadonlyArray<Reason> = [
  [400, "The body is not JSON, or a field of it is unknown or does not fit."],
  [413, "The body is longer than 1 MB."],
  [415, "The body is not sent as application/json."]
]
const always: ReadonlyArray<Reason> = [
  query,
  [401, "The token is missing or wrong; without a token in the settings, the caller is not on this machine."],
  [403, "The host name or the origin of the request is not accepted."],
  [429, "The token is wrong, like too many that came from the same address."],
  [500, "The service failed in a way that was not foreseen: its log says more."]
]
/** Failures of an endpoint that takes no body, for methods that can have one. */
export const noBody: ReadonlyArray<Reason> = [
  [400, "A body with fields is sent, and the endpoint takes none."],
  [413, "The body is longer than 1 MB."],
  [415, "The body is not sent as application/json."]
]
export const settings: Reason = [500, "The settings cannot be used as they are."]
export const unknownServer: Reason = [404, "No stored server has this id or name."]
export const sameNames: Reason = [409, "Several stored servers have this name."]
export const planMoved: Reason = [409, "The plan no longer holds."]
export const unknownRelease: Reason = [404, "There is no such release."]
export const server: ReadonlyArray<Reason> = [
  settings,
  [400, "A path or name cannot be used on a server."],
  unknownServer,
  sameNames,
  [502, "The server cannot be reached, refuses the log-in or a command, or does not answer in time."]
]
export const outside: Reason = [
  403,
  "The path on this machine is not under the projects root, and the token may not leave that."
]
export const project: ReadonlyArray<Reason> = [
  settings,
  outside,
  [400, "The project's directory cannot be used."],
  [422, "A file of the project cannot be used as it is."],
  [500, "A file of this machine cannot be read or written."]
]
export const platform: ReadonlyArray<Reason> = [
  settings,
  [400, "The platform refuses the request, or a part of it cannot be sent on."],
  [404, "The platform does not know what was asked for."],
  [409, "The platform says that it conflicts with what is there."],
  [422, "The platform refuses a value."],
  [429, "The platform receives too many requests."],
  [502, "The platform refuses the token, fails or cannot be reached."],
  [504, "The platform does not answer in time."]
]
export const gitHost: Reason = [502, "The git host refuses, fails or cannot be reached."]
export const proxy: ReadonlyArray<Reason> = [
  [409, "Somebody else is editing the proxy file, or a redeploy has the requests of the route."],
  [500, "The proxy file does not have the shape that an edit needs; it was left as it is."],
  [502, "The proxy file cannot be read or written, or its server cannot be reached."]
]
export const store: Reason = [503, "The history of runs cannot be used now."]
export const run: ReadonlyArray<Reason> = [
  [409, "The run was cancelled, or another process works on the same."],
  [422, "The Idempotency-Key was used for another request within the last 24 hours."],
  [429, "As many runs wait or are under way as can be; `Retry-After` says when to ask again."],
  [503, "The service is stopping, or runs cannot be recorded now."]
]
export const watched: Reason = [
  429,
  "As many runs and logs are watched as can be; `Retry-After` says when to ask again."
]
export const oneRun: ReadonlyArray<Reason> = [[404, "No run has this id."], store]
export const busy: Reason = [409, "Another process works on the same."]

export const stack: ReadonlyArray<Reason> = [
  ...body,
  ...server,
  ...run,
  [404, "There is no stack in that directory, or it has no containers."],
  [502, "The server did not do it, or not all of it: the message says what runs now."]
]

class EndpointFailures extends Context.Tag("berth/EndpointFailures")<EndpointFailures, ReadonlyArray<Reason>>() {}

const isReason = (given: Reason | ReadonlyArray<Reason>): given is Reason => typeof given[0] === "number"

/** Annotates an endpoint with its failures, in addition to those of every endpoint. */
export const annotateFailures = (...reasons: ReadonlyArray<Reason | ReadonlyArray<Reason>>) =>
  Context.make(EndpointFailures, reasons.flatMap((given) => isReason(given) ? [given] : given))

/** Conditions of failures by status, ascending. */
export type Failures = ReadonlyArray<readonly [status: string, when: string]>

const byStatus = (own: ReadonlyArray<Reason>): Failures => {
  const reasons = new Map<number, Set<string>>()
  for (const [status, when] of [...always, ...own]) {
    reasons.set(status, (reasons.get(status) ?? new Set()).add(when))
  }
  return [...reasons].sort(([a], [b]) => a - b).map(([status, when]) => [String(status), [...when].join(" ")])
}

/** Failures of each endpoint by its name; omits endpoints without an annotation. */
export const collectFailures = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>
): ReadonlyMap<string, Failures> => {
  const found = new Map<string, Failures>()
  HttpApi.reflect(api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint: { annotations, name } }) => {
      const own = Context.getOption(annotations, EndpointFailures)
      if (Option.isSome(own)) found.set(name, byStatus(own.value))
    }
  })
  return found
}
