import { Schema } from "effect"
import { field, flag, projectPath, text, texts } from "../words/describedFields.ts"

/** Location of the proxy file. */
export const proxyPlace = {
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
