import { Effect, Predicate } from "effect"
import { type PlatformRecord, PlatformRefused } from "../../schema/applications/PlatformApp.ts"
import { parseComposeServices, parseServiceDomains, toCoolify, withServiceDomain } from "./coolifyWords.ts"
import type { AppFields, Platform, PlatformCall } from "./Platform.ts"

const isCompose = (buildPack: unknown) => buildPack === "composestack"
const address = (fields: AppFields) => fields["fqdn"] ?? fields["domains"]

/** Compose service for an address: the named one, or the only one. */
const serviceOf = (app: PlatformRecord, service: string | undefined): PlatformCall<string> => {
  if (service !== undefined) return Effect.succeed(service)
  const compose = app.raw["docker_compose_raw"]
  const services = Predicate.isString(compose) ? parseComposeServices(compose) : []
  const [only] = services
  if (only !== undefined && services.length === 1) return Effect.succeed(only)
  const known = services.length === 0 ? "which Coolify does not tell yet" : `namely ${services.join(", ")}`
  return new PlatformRefused({
    upstream: 422,
    words: `a domain of a compose stack belongs to one of its services, ${known}: ` +
      `name it as "service" in the entry of platform.json`
  })
}

/** Fields that set an address of a compose stack. An address cannot be removed by setting an empty one. */
const composeAddress = (app: PlatformRecord, url: unknown, service?: string): PlatformCall<AppFields> =>
  Predicate.isString(url) && url !== ""
    ? Effect.map(serviceOf(app, service), (name) => ({
      docker_compose_domains: withServiceDomain(parseServiceDomains(app.raw["docker_compose_domains"]), name, url)
    }))
    : Effect.succeed({})

interface ApplicationCalls {
  readonly application: (uuid: string) => PlatformCall<PlatformRecord>
  readonly patch: (uuid: string, body: AppFields) => PlatformCall<unknown>
}

/** Calls that set addresses: a compose stack has one for each service, any other application has a single one. */
export const makeCoolifyDomains = (
  { application, patch }: ApplicationCalls
): Pick<Platform["Type"], "setDomain" | "updateApplication"> => ({
  updateApplication: (uuid, fields) =>
    Effect.gen(function*() {
      if (address(fields) === undefined) return yield* patch(uuid, toCoolify(fields))
      const app = yield* application(uuid)
      if (!isCompose(fields["build_pack"] ?? app.build_pack)) return yield* patch(uuid, toCoolify(fields))
      const { domains: _, fqdn: __, ...others } = fields
      const body = { ...toCoolify(others), ...yield* composeAddress(app, address(fields)) }
      return Object.keys(body).length === 0 ? null : yield* patch(uuid, body)
    }),
  setDomain: ({ buildPack, uuid }, url, service) =>
    isCompose(buildPack)
      ? application(uuid).pipe(
        Effect.flatMap((app) => composeAddress(app, url, service)),
        Effect.flatMap((fields) => patch(uuid, fields)),
        Effect.asVoid
      )
      : Effect.asVoid(patch(uuid, { domains: url }))
})
