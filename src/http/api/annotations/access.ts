import { HttpApi, type HttpApiGroup, HttpApiMiddleware, OpenApi } from "@effect/platform"
import { Context, Option } from "effect"
import type { Access } from "../../../services/access/rights.ts"
import { ApiErrorFromBody } from "./ApiError.ts"

class EndpointAccess extends Context.Tag("berth/EndpointAccess")<EndpointAccess, Access>() {}

/** Key in the description of the API for the role that an endpoint requires. */
export const accessKey = "x-berth-role"

const annotation = (access: Access) =>
  Context.make(EndpointAccess, access).pipe(Context.add(OpenApi.Override, { [accessKey]: access }))

/** Annotates an endpoint that requires no token. */
export const forAnyone = annotation("anyone")
/** Annotates an endpoint that requires no token without query parameters, and the role viewer with them. */
export const forAnyoneWithoutParameters = annotation("anyone without parameters")
/** Annotates a read-only endpoint. */
export const forViewers = annotation("viewer")
/** Annotates an endpoint that changes something, or runs a program on the machine of the service. */
export const forOperators = annotation("operator")

/** Required access of each endpoint by `POST /path`; none if not annotated. */
export const collectRequiredAccess = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>
): ReadonlyMap<string, Option.Option<Access>> => {
  const found = new Map<string, Option.Option<Access>>()
  HttpApi.reflect(api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint: { annotations, method, path } }) =>
      void found.set(`${method} ${path}`, Context.getOption(annotations, EndpointAccess))
  })
  return found
}

/** Access that an endpoint requires: that of an operator if it is not annotated. */
export const resolveRequiredAccess = (access: ReturnType<typeof collectRequiredAccess>, endpoint: string): Access =>
  Option.getOrElse(Option.flatten(Option.fromNullable(access.get(endpoint))), () => "operator")

/** Refuses callers whose role does not allow the endpoint. */
export class Allowed extends HttpApiMiddleware.Tag<Allowed>()("berth/Allowed", { failure: ApiErrorFromBody }) {}
