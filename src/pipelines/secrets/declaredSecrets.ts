import { Array, Predicate } from "effect"
import { parseComposeContent } from "../../remote/deploy.ts"
import type { ContainerConfig } from "../../schema/projects.ts"
import {
  type ListedSecret,
  quotingVariables,
  secretsDirectory,
  secretsHeading,
  type SecretSource
} from "../../schema/secrets.ts"
import { type EnvLine, interpolate, parseEnv, resolveEnvValues } from "../projects/interpolate.ts"

/** A secret of `container.json`. */
export interface DeclaredSecret {
  readonly name: string
  readonly from: SecretFrom
  readonly as: ListedSecret["as"]
  /** Services that use it. */
  readonly services: ReadonlyArray<string>
  /** False if nothing that the deploy starts uses it, so that it is not resolved. */
  readonly isNeeded: boolean
}

/** Source of a secret. */
export type SecretFrom =
  | { readonly kind: "command"; readonly command: readonly [string, ...ReadonlyArray<string>] }
  | { readonly kind: "age"; readonly file: string }

/** Describes the source of a secret: its program or its age file. Arguments may contain credentials. */
export const describeSource = (from: SecretFrom): string => from.kind === "command" ? from.command[0] : from.file

const toSource = ({ age, command }: SecretSource): SecretFrom =>
  command === undefined || command === null
    ? { kind: "age", file: age ?? "" }
    : { kind: "command", command }

/** File of a secret, relative to the project and to the remote path. */
export const formatSecretFile = (name: string): string => `${secretsDirectory}/${name}`

const normalized = (file: unknown): string | undefined =>
  Predicate.isString(file) ? file.replace(/^(?:\.\/+)+/, "").replace(/(?<!\/)\/+$/, "") : undefined

/** True if a text of a compose file refers to a variable. */
const refersTo = (name: string) => (text: string): boolean =>
  text.includes(name) &&
  new RegExp(String.raw`(?<!\$)(?:\$\$)*\$\{?${name}\b`).test(text)

const someText = (value: unknown, test: (text: string) => boolean): boolean =>
  Predicate.isString(value)
    ? test(value)
    : Predicate.isObject(value) && Object.values(value).some((part) => someText(part, test))

/** True if the environment of a service lists a variable without a value, which Compose takes from `.env`. */
const listsVariable = (environment: unknown, name: string): boolean =>
  Array.isArray(environment)
    ? environment.includes(name)
    : Predicate.isRecord(environment) && name in environment && environment[name] === null

const listsEnvFile = (files: unknown): boolean =>
  Array.ensure(files ?? []).some((file) => normalized(Predicate.isRecord(file) ? file["path"] : file) === ".env")

const mounts = (volumes: unknown, file: string): boolean =>
  Array.isArray(volumes) && volumes.some((volume) => {
    const source = normalized(
      Predicate.isString(volume) ? volume.split(":")[0] : Predicate.isRecord(volume) && volume["source"]
    )
    return source === file || source === secretsDirectory
  })

/** Names in a service's list of `secrets` or `configs`. */
const listsShared = (entries: unknown, names: ReadonlySet<string>): boolean =>
  Array.isArray(entries) && entries.some((entry) => {
    const source = Predicate.isRecord(entry) ? entry["source"] : entry
    return Predicate.isString(source) && names.has(source)
  })

type Sections = Readonly<Record<string, unknown>>

const sectionOf = (content: unknown, name: string): Sections => {
  const section = Predicate.isRecord(content) ? content[name] : undefined
  return Predicate.isRecord(section) ? section : {}
}

/** Uses of a secret in a compose file. */
interface Uses {
  readonly services: ReadonlyArray<string>
  /** True if a part that belongs to no service uses it. */
  readonly isShared: boolean
}

const findUses = (content: unknown, name: string, as: ListedSecret["as"]): Uses => {
  const file = formatSecretFile(name)
  const isUsed = refersTo(name)
  const namedIn = (section: string) =>
    new Set(
      Object.entries(sectionOf(content, section)).flatMap(([entry, definition]) => {
        if (!Predicate.isRecord(definition)) return []
        const uses = as === "file"
          ? normalized(definition["file"]) === file
          : definition["environment"] === name || someText(definition, isUsed)
        return uses ? [entry] : []
      })
    )
  const [secrets, configs] = [namedIn("secrets"), namedIn("configs")]
  const services = Object.entries(sectionOf(content, "services")).flatMap(([service, definition]) => {
    if (!Predicate.isRecord(definition)) return []
    const uses = listsShared(definition["secrets"], secrets) || listsShared(definition["configs"], configs) ||
      (as === "file"
        ? mounts(definition["volumes"], file)
        : listsVariable(definition["environment"], name) || listsEnvFile(definition["env_file"]) ||
          someText(definition, isUsed))
    return uses ? [service] : []
  })
  const others = Predicate.isRecord(content) ? Object.entries(content) : []
  const isShared = as === "variable" &&
    others.some(([section, value]) =>
      !["services", "secrets", "configs"].includes(section) && !section.startsWith("x-") && someText(value, isUsed)
    )
  return { services, isShared }
}

/** True if Compose refuses the file without the variable, also where no started service uses it. */
const isRequired = (content: unknown, name: string, services: ReadonlyArray<string>): boolean =>
  services.some((service) =>
    someText(
      sectionOf(content, "services")[service],
      (text) => refersTo(name)(text) && interpolate(text, new Map()).missing?.startsWith(`${name} `) === true
    )
  )

/**
 * Secrets of a project, with the services of its compose file that use them.
 * @param compose text of the compose file
 * @param services its services, and whether a start runs them
 */
export const listDeclaredSecrets = (
  { secrets }: Pick<ContainerConfig, "secrets">,
  compose: string,
  services: ReadonlyArray<{ readonly name: string; readonly runs: boolean }>
): ReadonlyArray<DeclaredSecret> => {
  const entries = Object.entries(secrets ?? {})
  if (entries.length === 0) return []
  const content = parseComposeContent(compose)
  const running = new Set(services.filter(({ runs }) => runs).map(({ name }) => name))
  return entries.map(([name, source]) => {
    const as = source.as === "file" ? "file" : "variable"
    const uses = findUses(content, name, as)
    return {
      name,
      from: toSource(source),
      as,
      services: uses.isShared ? [...running] : uses.services,
      isNeeded: uses.isShared || uses.services.some((service) => running.has(service)) ||
        isRequired(content, name, uses.services)
    }
  })
}

const dollar = `\${${quotingVariables.dollar}}`
const backslash = `\${${quotingVariables.backslash}}`
/** Definitions of the quoting variables: docker-compose 1.x has no escape for `$`, and no backslash before a quote. */
const dollarLine = `${quotingVariables.dollar}='$'`
const backslashLine = `${quotingVariables.backslash}=\\`

/** Texts that both generations of Compose read unchanged between single quotes. */
const isPlain = (value: string): boolean => !/['\\\n\r]|\$\{/.test(value)

/**
 * Quotes a value for an env file so that docker-compose 1.x and Compose 2 read it back unchanged. They agree on nothing
 * but plain text in single quotes, and `\\`, `\"`, `\n`, `\r` and `${NAME}` in double quotes: hence the quoting variables.
 */
const quoteEnvValue = (value: string): string => {
  if (isPlain(value)) return `'${value}'`
  const body = value.replace(/(?<!\\)\\+$/, "")
  const escaped = body
    .replaceAll("\\", "\\\\")
    .replaceAll("\"", "\\\"")
    .replaceAll("\n", "\\n")
    .replaceAll("\r", "\\r")
    .replaceAll("$", () => dollar)
  return `"${escaped}${backslash.repeat(value.length - body.length)}"`
}

const lineBreak = /\r?\n?$/

/** Env lines of variables, after the definitions of the quoting variables that they need. */
export const formatEnvLines = (variables: ReadonlyMap<string, string>): ReadonlyArray<string> => {
  const lines = [...variables].map(([name, value]) => `${name}=${quoteEnvValue(value)}`)
  const isUsed = (reference: string) => lines.some((line) => line.includes(reference))
  return [
    ...isUsed(dollar) ? [dollarLine] : [],
    ...isUsed(backslash) ? [backslashLine] : [],
    ...lines
  ]
}

/** Text of an `.env` with secrets after its own variables, so that they win. */
export const mergeSecrets = (env: string, secrets: ReadonlyMap<string, string>): string => {
  const own = env === "" ? "" : `${env.replace(lineBreak, "")}\n`
  return secrets.size === 0 ? env : `${own}${secretsHeading}\n${formatEnvLines(secrets).join("\n")}\n`
}

const isOwn = (name: string): boolean => !Object.values(quotingVariables).some((quoting) => quoting === name)

/** An `.env` without the secrets that a deploy added to it. */
export const withoutSecrets = (env: string): string => {
  const at = env.startsWith(secretsHeading) ? 0 : env.indexOf(`\n${secretsHeading}`) + 1
  return at === 0 && !env.startsWith(secretsHeading) ? env : env.slice(0, at)
}

const valuesOf = (lines: ReadonlyArray<EnvLine>): ReadonlyMap<string, string> => resolveEnvValues(lines).values

/** Secrets that a deploy added to an `.env`, by name. */
export const readSecrets = (env: string): ReadonlyMap<string, string> => {
  const own = withoutSecrets(env)
  if (own === env) return new Map()
  const all = valuesOf(parseEnv(env.slice(own.length)))
  return new Map([...all].filter(([name]) => isOwn(name)))
}

/** Variables of an env file with their values. */
export const readVariables = (text: string): ReadonlyMap<string, string> =>
  new Map([...valuesOf(parseEnv(text))].filter(([name]) => isOwn(name)))
