import { Array, Either, Predicate } from "effect"
import { parseYaml } from "../../../services/parsing/yaml.ts"
import { parseEnv, resolveEnvValues } from "./envText.ts"
import { interpolate } from "./interpolate.ts"

/** Keys whose change does not recreate a container. */
const neverTold = new Set(["build", "depends_on", "profiles", "pull_policy", "scale"])
/** Top-level sections that services share: a change there may affect any service. */
const shared = ["name", "networks", "volumes", "configs", "secrets"]

const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : Predicate.isRecord(value)
    ? Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]))
    : value

const hasNoReplica = (service: Record<string, unknown>) =>
  service["scale"] === 0 || (Predicate.isRecord(service["deploy"]) && service["deploy"]["replicas"] === 0)

/** Definition of a service as compose sees it. */
export interface ServiceDefinition {
  /** Changes whenever compose may recreate the container of the service. */
  readonly text: string
  /** True if it is scaled to 0. */
  readonly isScaledToZero: boolean
  /** Image that it names; undefined if it builds one without a name. */
  readonly image: string | undefined
  /** Its `env_file`s. */
  readonly envFiles: ReadonlyArray<string>
}

/** Parsed content of a compose file; undefined if it cannot be read. */
export const parseComposeContent = (compose: string): unknown =>
  Either.flatMap(parseYaml(compose, { merge: true }), ({ document }) => Either.try((): unknown => document.toJS()))
    .pipe(Either.getOrElse(() => undefined))

/**
 * Services of a compose file by name, with the variables of `.env` substituted; empty if the file cannot be read. Does
 * not cover environment variables on the server.
 */
export const parseServiceDefinitions = (compose: string, env: string): ReadonlyMap<string, ServiceDefinition> => {
  const content = parseComposeContent(compose)
  const services = Predicate.isRecord(content) ? content["services"] : undefined
  if (!Predicate.isRecord(content) || !Predicate.isRecord(services)) return new Map()
  const { values } = resolveEnvValues(parseEnv(env))
  const common = shared.map((key) => sorted(content[key]))
  return new Map(
    Object.entries(services).map(([name, service]) => {
      const fields = Predicate.isRecord(service) ? service : {}
      const told = Object.fromEntries(Object.entries(fields).filter(([key]) => !neverTold.has(key)))
      const { missing, text } = interpolate(JSON.stringify([sorted(told), common]), values)
      const filledIn = (value: unknown) => Predicate.isString(value) ? [interpolate(value, values).text] : []
      const files = Array.ensure(fields["env_file"] ?? []).flatMap((file) =>
        filledIn(Predicate.isRecord(file) ? file["path"] : file)
      )
      const [image] = filledIn(fields["image"])
      return [name, { text: missing ?? text, isScaledToZero: hasNoReplica(fields), image, envFiles: files }]
    })
  )
}
