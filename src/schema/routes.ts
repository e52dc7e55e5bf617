import { Either, Schema } from "effect"
import { Port } from "./servers.ts"
import { describeParseError, field, flag, projectPath, strictBody, text, texts } from "./validation.ts"
import { formatList, listSchemaFields } from "./words.ts"

/** Name of a route: the key of its routers and service in the proxy file. */
const RouteName = Schema.String.pipe(
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

/** Location of the proxy file. */
const proxyPlace = {
  file: text("The path of the proxy file on its server.", "/etc/traefik/dynamic/berth.yml"),
  serverId: text("The id of the stored server that holds it.", "1"),
  serverName: text("Name of that server.", "Main")
}

/** A declared application. */
export const RoutedApplication = Schema.Struct({
  appName: text("The name of the application.", "hello"),
  projectPath
}).annotations({ identifier: "RoutedApplication" })
export interface RoutedApplication extends Schema.Schema.Type<typeof RoutedApplication> {}

/** Route in the proxy file. */
export const ListedRoute = Schema.Struct({
  routeName: text("The name of its router in the proxy file.", "hello"),
  domains: texts("The host names that its rule asks for; empty where it asks for something else.", [
    "hello.example.com"
  ]),
  rule: text("The whole rule of its router, cut after 300 characters.", "Host(`hello.example.com`)"),
  targets: texts(
    "Where its service sends requests, each as host:port; empty where the file does not define the service.",
    ["192.0.2.20:2010"]
  ),
  redirects: flag(
    "True when a second router, named like it with -http at the end, takes its requests over plain http."
  ),
  missingMiddlewares: texts(
    "Middlewares that its routers use and the file does not define: the proxy turns such a router off unless " +
      "another of its files defines them."
  ),
  madeBy: Schema.Literal("berth", "other").annotations({
    description: "berth: it has exactly the form that Berth writes; other: somebody else wrote it, or changed it since."
  }),
  applications: Schema.Array(RoutedApplication).annotations({
    description: "The applications that projects of this machine declare with one of its domains."
  })
}).annotations({ identifier: "ListedRoute" })
export interface ListedRoute extends Schema.Schema.Type<typeof ListedRoute> {}

/** The routes of the proxy file. */
export const RouteList = Schema.Struct({
  ...proxyPlace,
  routes: Schema.Array(ListedRoute).annotations({ description: "The routes, in the order of the file." }),
  observedAt: text("When the file was read, in UTC.", "2026-01-02T03:04:05.678Z"),
  warnings: field(
    Schema.Array(Schema.String),
    "Projects whose declarations cannot be read, so that an application may be missing beside its route."
  )
}).annotations({ identifier: "RouteList" })
export interface RouteList extends Schema.Schema.Type<typeof RouteList> {}

const action = Schema.Literal("add", "remove").annotations({
  description: "Direction: the route would be added or removed.",
  message: () => ({ message: "must be \"add\" or \"remove\"", override: true })
})

/** Proposed change of the proxy file. */
export const RoutePlanRequest = Schema.Struct({
  action,
  routeName: field(RouteName, "The name of the route in the proxy file."),
  domain: Schema.optional(Domain).annotations({ description: "To add: a host name like app.example.com." }),
  port: Schema.optional(Port).annotations({ description: "To add: the port of the target address." })
}).annotations({ identifier: "RoutePlanRequest", ...strictBody })
export interface RoutePlanRequest extends Schema.Schema.Type<typeof RoutePlanRequest> {}

/** Change of the proxy file that adding or removing a route would make. */
export const RoutePlan = Schema.Struct({
  action,
  routeName: text("The name of the route.", "hello"),
  ...proxyPlace,
  changes: flag("True when the file would be changed at all."),
  reason: Schema.optional(Schema.Literal("route_exists", "route_not_found")).annotations({
    description: "Why nothing would be changed: the same route is there already, or none of this name is."
  }),
  diff: text(
    "Change of the file, as a unified diff with three lines around each change; empty where nothing would " +
      "be changed."
  ),
  added: Schema.Int.annotations({ description: "Number of lines that would be added." }),
  removed: Schema.Int.annotations({ description: "Number of lines that would be removed." }),
  warning: Schema.optional(Schema.String).annotations({
    description: "Problems that would keep the proxy from working; absent when there are none."
  }),
  observedAt: text("When the file was read, in UTC.", "2026-01-02T03:04:05.678Z")
}).annotations({ identifier: "RoutePlan" })
export interface RoutePlan extends Schema.Schema.Type<typeof RoutePlan> {}

/** A required field of a route is missing or empty. `fields` lists all required ones. */
export class RouteFieldsMissing extends Schema.TaggedError<RouteFieldsMissing>()("RouteFieldsMissing", {
  fields: Schema.Array(Schema.String)
}) {
  override get message() {
    return `${formatList(this.fields, "and")} ${this.fields.length === 1 ? "is" : "are"} required`
  }
}

const isFilled = (value: unknown) => value !== undefined && value !== null && value !== ""

/** Creates a decoder of a route: first requires every field to be non-empty, then validates them. */
export const makeCompleteRouteDecoder = <A, I>(schema: Schema.Schema<A, I>) => {
  const fields = listSchemaFields(schema.ast)
  const read = makeRouteDecoder(schema)
  return (given: { readonly [field: string]: unknown }): Either.Either<A, RouteFieldsMissing | RouteInvalid> =>
    fields.every((field) => isFilled(given[field])) ? read(given) : Either.left(new RouteFieldsMissing({ fields }))
}
