import { Either, Schema } from "effect"
import { Port } from "../servers/Server.ts"
import { text } from "../words/describedFields.ts"
import { describeParseError } from "../words/describeIssues.ts"

/** Name of a route: the key of its routers and service in the proxy file. */
export const RouteName = Schema.String.pipe(
  Schema.pattern(/^[A-Za-z0-9][A-Za-z0-9_-]*$/, {
    message: () => "must be letters, digits, \"_\" and \"-\", and start with a letter or digit"
  }),
  Schema.maxLength(200, { message: () => "must have at most 200 characters" })
)

const label = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
const hostName = new RegExp(`^(?=.{1,253}$)${label}(?:\\.${label})*$`)

/** Host name of letters, digits, `-` and dots; other alphabets in their `xn--` form. */
export const Domain = Schema.String.pipe(
  Schema.pattern(hostName, { message: () => "must be a host name like app.example.com" })
)

/** A route to add: requests for `domain` go to `port` of the target address. */
export const RouteRequest = Schema.Struct({
  routeName: RouteName,
  domain: Domain,
  port: Port
})
export interface RouteRequest extends Schema.Schema.Type<typeof RouteRequest> {}

/** A route to remove. */
export const RouteNamed = Schema.Struct({ routeName: RouteName })
export interface RouteNamed extends Schema.Schema.Type<typeof RouteNamed> {}

/** An IPv4 or IPv6 address, or a host name, that a proxy can send requests to. */
export const TargetAddress = Schema.String.pipe(
  Schema.filter((text) =>
    hostName.test(text) || /^[0-9A-Fa-f]*:[0-9A-Fa-f:.]+$/.test(text) && URL.canParse(`http://[${text}]/`)
      ? true
      : "must be an IP address or a host name"
  )
)

/** Route with its target address. */
export const Route = Schema.Struct({ ...RouteRequest.fields, targetIp: TargetAddress })
export interface Route extends Schema.Schema.Type<typeof Route> {}

/** Result of adding a route. `warning` names problems that keep it from working. */
export const RouteAdded = Schema.Struct({
  added: Schema.Literal(true).annotations({ description: "The route was added." }),
  warning: Schema.optional(Schema.String).annotations({
    description: "Problems that keep the new route from working; absent when there are none."
  })
}).annotations({ description: "The proxy file has the route now." })
export const RouteKept = Schema.Struct({
  added: Schema.Literal(false).annotations({ description: "Nothing was changed." }),
  reason: Schema.Literal("route_exists").annotations({ description: "The same route is there already." })
}).annotations({ description: "The proxy file had the same route already." })

/** Result of removing a route. `warning` names remaining references to it. */
export const RouteRemoved = Schema.Struct({
  removed: Schema.Literal(true).annotations({ description: "The route was removed." }),
  routeName: text("The name of the route that was removed.", "hello"),
  warning: Schema.optional(Schema.String).annotations({
    description: "References to the removed route that remain; absent when there are none."
  })
}).annotations({ description: "The proxy file no longer has the route." })
export const RouteAbsent = Schema.Struct({
  removed: Schema.Literal(false).annotations({ description: "Nothing was changed." }),
  reason: Schema.Literal("route_not_found").annotations({ description: "The proxy file has no route of this name." })
}).annotations({ description: "The proxy file has no such route." })

export type AddRouteResult = typeof RouteAdded.Type | typeof RouteKept.Type
export type RemoveRouteResult = typeof RouteRemoved.Type | typeof RouteAbsent.Type

/** User of a port. */
export const PortUse = Schema.Struct({
  kind: Schema.Literal("variable", "route", "socket", "container", "project").annotations({
    description:
      "An application's HOST_PORT, an address in the proxy file, a listening socket or a published port of " +
      "a container on the proxy's server, or the HOST_PORT in a project's .env."
  }),
  what: Schema.String.annotations({
    description: "The application, the address, the container or the project."
  })
}).annotations({ identifier: "PortUse" })
export interface PortUse extends Schema.Schema.Type<typeof PortUse> {}

/** Used ports, ascending, and the next port to use, with evidence on request. */
export const NextPort = Schema.Struct({
  nextPort: Schema.Int.annotations({ description: "The port after the highest one in use.", examples: [2004] }),
  usedPorts: Schema.Array(Schema.Int.annotations({ description: "A port in use." })).annotations({
    description: "The ports in use by applications and in the proxy file, ascending.",
    examples: [[2000, 2003]]
  }),
  evidence: Schema.optional(
    Schema.Array(Schema.Struct({
      port: Schema.Int.annotations({ description: "A port in use." }),
      usedBy: Schema.Array(PortUse).annotations({ description: "Users of the port." })
    }))
  ).annotations({ description: "Each used port, and what takes it." }),
  warnings: Schema.optional(Schema.Array(Schema.String)).annotations({
    description: "With the evidence: what could not be read, so that a port may be in use that is not listed."
  })
}).annotations({ identifier: "NextPort" })
export interface NextPort extends Schema.Schema.Type<typeof NextPort> {}

/** A field of a route is invalid. */
export class RouteInvalid extends Schema.TaggedError<RouteInvalid>()("RouteInvalid", { reason: Schema.String }) {
  readonly status = 400
  override get message() {
    return this.reason
  }
}

/** Creates a decoder of route input; its error lists all invalid fields. */
export const makeRouteDecoder = <A, I>(schema: Schema.Schema<A, I>) => {
  const decode = Schema.decodeUnknownEither(schema, { errors: "all" })
  return (input: unknown): Either.Either<A, RouteInvalid> =>
    Either.mapLeft(
      decode(input),
      (error) => new RouteInvalid({ reason: describeParseError(error, { whole: "The request", part: "field" }) })
    )
}

/** A route with another target has this name. */
export class RouteTaken extends Schema.TaggedError<RouteTaken>()("RouteTaken", {
  routeName: Schema.String,
  reason: Schema.String
}) {
  readonly status = 409
  override get message() {
    return `The route name "${this.routeName}" is taken: ${this.reason}`
  }
}

const proxyFile = { file: Schema.String, server: Schema.String }

/** The route leads to a bridge of a redeploy, which will restore it. Nothing was written. */
export class RouteBridged extends Schema.TaggedError<RouteBridged>()("RouteBridged", {
  ...proxyFile,
  routeName: Schema.String,
  port: Schema.Number
}) {
  readonly status = 409
  override get message() {
    return `The route "${this.routeName}" in ${this.file} on "${this.server}" leads to port ${this.port} of ` +
      "deploy.bridgePorts, as it does while its service is redeployed over a bridge. It was left as it is: try again " +
      "when that deploy has ended. Where none is under way, remove the route first"
  }
}

/** The proxy file does not have the shape that an edit needs, or would lose it. Nothing was written. */
export class ProxyFileUnfit extends Schema.TaggedError<ProxyFileUnfit>()("ProxyFileUnfit", {
  ...proxyFile,
  line: Schema.NullOr(Schema.Number),
  reason: Schema.String
}) {
  readonly status = 500
  override get message() {
    const at = this.line === null ? this.file : `${this.file}:${this.line}`
    return `The proxy file ${at} on "${this.server}" was left as it is: ${this.reason}`
  }
}

/** The proxy file could not be read. */
export class ProxyFileUnreadable extends Schema.TaggedError<ProxyFileUnreadable>()("ProxyFileUnreadable", {
  ...proxyFile,
  reason: Schema.String
}) {
  readonly status = 502
  override get message() {
    return `The proxy file ${this.file} on "${this.server}" cannot be read: ${this.reason}`
  }
}

/** Writing the proxy file failed. `reason` includes the state of its content. */
export class ProxyFileNotWritten extends Schema.TaggedError<ProxyFileNotWritten>()("ProxyFileNotWritten", {
  ...proxyFile,
  reason: Schema.String
}) {
  readonly status = 502
  override get message() {
    return `The proxy file ${this.file} on "${this.server}" could not be written: ${this.reason}`
  }
}

/** Another editor has held the lock of the proxy file for longer than a request may wait. Nothing was written. */
export class ProxyFileBusy extends Schema.TaggedError<ProxyFileBusy>()("ProxyFileBusy", {
  ...proxyFile,
  reason: Schema.String
}) {
  readonly status = 409
  override get message() {
    return `The proxy file ${this.file} on "${this.server}" is busy: ${this.reason}. Try again`
  }
}

/** The settings do not specify the server of the proxy file, or the address that it forwards to. */
export class ProxySettingsInvalid extends Schema.TaggedError<ProxySettingsInvalid>()("ProxySettingsInvalid", {
  reason: Schema.String
}) {
  readonly status = 500
  override get message() {
    return this.reason
  }
}

/** The platform's token cannot read a port in use, so no port can be allocated safely. */
export class HostPortHidden extends Schema.TaggedError<HostPortHidden>()("HostPortHidden", {
  app: Schema.String,
  reason: Schema.String
}) {
  readonly status = 409
  override get message() {
    return `Cannot allocate a port: the HOST_PORT of "${this.app}" cannot be read: ${this.reason}`
  }
}

/** No port is left above the highest one in use. */
export class NoPortLeft extends Schema.TaggedError<NoPortLeft>()("NoPortLeft", { highest: Schema.Number }) {
  readonly status = 409
  override get message() {
    return `Port ${this.highest} is in use and there is none above it: free it, or choose a port by hand`
  }
}

export type ProxyFileError =
  | ProxyFileUnfit
  | ProxyFileUnreadable
  | ProxyFileNotWritten
  | ProxyFileBusy
  | RouteBridged
  | ProxySettingsInvalid
