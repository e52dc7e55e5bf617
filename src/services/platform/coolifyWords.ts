import { Either, Predicate } from "effect"
import { isMap, isScalar } from "yaml"
import { recordFields } from "../../schema/applications.ts"
import { parseJson, parseYaml } from "../parsing.ts"
import type { AppFields } from "./Platform.ts"

type Fields = { readonly [field: string]: unknown }

const buildPacks: ReadonlyArray<readonly [neutral: string, coolify: string]> = [
  ["composestack", "dockercompose"],
  ["autopack", "nixpacks"],
  ["imagefile", "dockerfile"]
]
const fieldNames: ReadonlyArray<readonly [neutral: string, coolify: string]> = [
  ...recordFields.flatMap(({ record }) => "coolify" in record ? [[record.key, record.coolify] as const] : []),
  ["manual_webhook_secret_githost", "manual_webhook_secret_gitea"],
  ["fqdn", "domains"]
]
/** Keys whose values have to begin with a slash. */
const paths = recordFields.flatMap(({ record }): ReadonlyArray<string> => record.kind === "path" ? [record.key] : [])

const other = (words: typeof buildPacks, from: 0 | 1, word: string): string =>
  words.find((pair) => pair[from] === word)?.[from === 0 ? 1 : 0] ?? word

const rooted = (path: string) => (path.startsWith("/") ? path : `/${path}`)

/** A compose service and its addresses, separated by commas. */
interface ServiceDomain {
  readonly name: string
  readonly domain: string
}

/** Coolify's name of a build pack; a name without a neutral equivalent is returned unchanged. */
const toVendorBuildPack = (buildPack: string): string => other(buildPacks, 0, buildPack)

const vendorValue = (field: string, value: unknown): unknown => {
  if (!Predicate.isString(value)) return value
  if (field === "build_pack") return toVendorBuildPack(value)
  return paths.includes(field) && value !== "" ? rooted(value) : value
}

/** Converts fields of an application to the terms of Coolify's API. */
export const toCoolify = (fields: AppFields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([field, value]) => [other(fieldNames, 0, field), vendorValue(field, value)])
  )

/** Parses the addresses of a compose stack: a record by service, a list of services, or either as JSON text. */
export const parseServiceDomains = (value: unknown): ReadonlyArray<ServiceDomain> => {
  if (Predicate.isString(value)) {
    return Either.match(parseJson(value), { onLeft: () => [], onRight: parseServiceDomains })
  }
  const pairs: ReadonlyArray<readonly [unknown, unknown]> = Array.isArray(value)
    ? value.filter(Predicate.isRecord).map((one) => [one["name"], one["domain"]])
    : Predicate.isRecord(value)
    ? Object.entries(value).map(([name, one]) => [name, Predicate.isRecord(one) ? one["domain"] : one])
    : []
  return pairs.flatMap(([name, domain]) =>
    Predicate.isString(name) && Predicate.isString(domain) && domain !== "" ? [{ name, domain }] : []
  )
}

const plainName = (name: string) => name.replaceAll(/[-.]/g, "_")

/** The service that a name means: Coolify up to 4.2 writes `web-api` back as `web_api`. */
export const findService = (name: string, services: ReadonlyArray<string>): string =>
  services.includes(name) ? name : services.find((service) => plainName(service) === plainName(name)) ?? name

/**
 * Sets the address of a service of a compose stack to `url`; the other services keep theirs.
 * @param services names in the compose file
 */
export const withServiceDomain = (
  domains: ReadonlyArray<ServiceDomain>,
  service: string,
  url: string,
  services: ReadonlyArray<string> = []
): ReadonlyArray<ServiceDomain> => {
  const known = [...services, service]
  return [
    ...domains.map(({ domain, name }) => ({ name: findService(name, known), domain }))
      .filter(({ name }) => name !== service),
    { name: service, domain: url }
  ]
}

/** Names of the services in a compose file; empty if it cannot be parsed. */
export const parseComposeServices = (text: string): ReadonlyArray<string> => {
  const root = Either.match(parseYaml(text), { onLeft: () => null, onRight: ({ document }) => document.contents })
  const services = isMap(root) ? root.get("services") : undefined
  return isMap(services)
    ? services.items.flatMap(({ key }) => (isScalar(key) && Predicate.isString(key.value) ? [key.value] : []))
    : []
}

const neutralValue = (field: string, value: unknown): unknown => {
  if (!Predicate.isString(value)) return value
  if (field === "build_pack") return other(buildPacks, 1, value)
  return field === "publish_directory" && value.length > 1 ? value.replace(/^\//, "") : value
}

const neutralName = (field: string) => (field === "domains" ? field : other(fieldNames, 1, field))

/** Uuid of the server in the destination of an application. */
const serverUuid = (record: Fields): unknown => {
  const destination = record["destination"]
  const server = Predicate.isRecord(destination) ? destination["server"] : undefined
  return Predicate.isRecord(server) ? server["uuid"] : undefined
}

/**
 * Addresses of an application: those of its services for a compose stack, the application's own for any other build.
 * Coolify keeps both when the build pack changes, and serves those that belong to it.
 */
const addressOf = (record: Fields): Fields => {
  const services = record["docker_compose_domains"]
  if (record["build_pack"] !== toVendorBuildPack("composestack") || services === undefined) return {}
  const domains = parseServiceDomains(services).map(({ domain }) => domain)
  return { fqdn: domains.length === 0 ? null : domains.join(",") }
}

/** Collects fields that Coolify nests: the server, the static flag, and the addresses of a compose stack. */
const gathered = (record: Fields): Fields => {
  const settings = record["settings"]
  const isStatic = Predicate.isRecord(settings) ? settings["is_static"] : undefined
  const server = serverUuid(record)
  return {
    ...(Predicate.isString(server) && record["server_uuid"] === undefined ? { server_uuid: server } : {}),
    ...(Predicate.isBoolean(isStatic) && record["is_static"] === undefined ? { is_static: isStatic } : {}),
    ...addressOf(record)
  }
}

/** Converts a body from Coolify to neutral terms; anything but a record is returned unchanged. */
export const toNeutral = (body: unknown): unknown =>
  Predicate.isRecord(body) && !Array.isArray(body)
    ? {
      ...Object.fromEntries(
        Object.entries(body).map(([field, value]) => [neutralName(field), neutralValue(field, value)])
      ),
      ...gathered(body)
    }
    : body

const meansTheSame = (field: string, value: unknown, wanted: unknown): boolean => {
  if (!Predicate.isString(value) || !Predicate.isString(wanted)) return false
  if (paths.includes(field)) return rooted(value) === rooted(wanted)
  return field === "fqdn" && value.split(",").includes(wanted)
}

/** Replaces values of a record with equivalent values of `wanted`, to keep their spelling. */
export const adoptSpelling = <A extends Fields>(record: A, wanted: AppFields): A => ({
  ...record,
  ...Object.fromEntries(
    Object.entries(wanted).filter(([field, value]) => meansTheSame(field, record[field], value))
  )
})

/** Replaces Coolify's names in a message with neutral ones. */
export const toNeutralWords = (words: string): string =>
  [...fieldNames.filter(([neutral]) => neutral !== "fqdn"), ...buildPacks].reduce(
    (text, [neutral, coolify]) => text.replaceAll(new RegExp(`\\b${coolify}\\b`, "g"), neutral),
    words
  )
