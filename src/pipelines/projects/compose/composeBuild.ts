import { Array, Order, Predicate } from "effect"
import { interpolate } from "../interpolate.ts"
import { type ComposeSource, joinRelative, listFieldParts, type PartPath, type ServicePart } from "./composeSources.ts"

/** `build:` section of a service in one compose file; a context alone counts as a section with that key. */
interface BuildPart {
  readonly from: ComposeSource
  readonly path: PartPath
  readonly written: unknown
}

/** `build:` section of a service over all compose files. */
export interface BuildDefinition {
  readonly merged: unknown
  /** Part whose value of a key counts; the last one for a key that none has. */
  readonly partOf: (key: string) => BuildPart
}

/** Keys whose entries compose adds to those of an earlier file; other keys of a later file replace them. */
const separators: Readonly<Record<string, RegExp>> = {
  additional_contexts: /=/,
  args: /=/,
  labels: /=/,
  extra_hosts: /[=:]/
}

/** Entries as a map, from a map or from a list of `A=b`. */
const toEntries = (value: unknown, separator: RegExp): ReadonlyArray<readonly [name: string, value: unknown]> =>
  Predicate.isRecord(value) ? Object.entries(value) : Array.isArray(value)
    ? value.map((each) => {
      const text = String(each)
      const at = text.search(separator)
      return at < 0 ? [text, null] : [text.slice(0, at), text.slice(at + 1)]
    })
    : []

const mergeSections = (before: unknown, part: unknown): unknown => {
  if (!Predicate.isRecord(before) || !Predicate.isRecord(part)) return part
  const mergeKey = (key: string) => {
    const [under, over] = [before[key], part[key]]
    if (Predicate.isNullable(over) || Predicate.isNullable(under)) return over ?? under
    const separator = Object.hasOwn(separators, key) ? separators[key] : undefined
    return separator === undefined
      ? over
      : Object.fromEntries([...toEntries(under, separator), ...toEntries(over, separator)])
  }
  return Object.fromEntries(
    Array.dedupe([...Object.keys(before), ...Object.keys(part)]).map((key) => [key, mergeKey(key)])
  )
}

/** Merges the `build:` sections of a service as compose does; undefined without one. */
export const mergeBuild = (parts: ReadonlyArray<ServicePart>): BuildDefinition | undefined => {
  const sections = listFieldParts(parts, "build").map(({ fields: { build }, from, path }): BuildPart => ({
    from,
    path: [...path, "build"],
    written: Predicate.isString(build) ? { context: build } : build
  }))
  const last = sections.at(-1)
  return last === undefined ? undefined : {
    merged: sections.map(({ written }) => written).reduce(mergeSections),
    partOf: (key) =>
      sections.findLast(({ written }) => Predicate.isRecord(written) && Predicate.isNotNullable(written[key])) ?? last
  }
}

/**
 * Directory that a service is built from, relative to the project and without `./`; `.` for the project itself, and
 * undefined for the address of a repository and for absolute paths.
 */
export const findBuildContext = ({ merged, partOf }: BuildDefinition): string | undefined => {
  const context = Predicate.isRecord(merged) ? merged["context"] ?? "." : undefined
  if (!Predicate.isString(context) || /^(?:[\w+.-]+:|\/|~|github\.com\/|[\w.-]+@)/.test(context)) return undefined
  const { base, values } = partOf("context").from
  return joinRelative(base, interpolate(context, values).text) || "."
}

/** Dockerfile of a service, relative to its context; undefined for one that the compose file holds itself. */
export const findDockerfile = ({ merged, partOf }: BuildDefinition): string | undefined => {
  if (!Predicate.isRecord(merged)) return "Dockerfile"
  if (Predicate.isNotNullable(merged["dockerfile_inline"])) return undefined
  const written = merged["dockerfile"] ?? "Dockerfile"
  return Predicate.isString(written) ? interpolate(written, partOf("dockerfile").from.values).text : undefined
}

const sortByName = Array.sortWith(([name]: readonly [name: string, value: unknown]) => name, Order.string)

const fillIn = (value: unknown, values: ComposeSource["values"]): unknown => {
  if (Predicate.isString(value)) return interpolate(value, values).text
  if (Array.isArray(value)) return value.map((each) => fillIn(each, values))
  if (!Predicate.isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, fillIn(each, values)]))
}

/** Text that stands for what a section says, with its variables filled in. */
export const formatBuildSection = ({ merged, partOf }: BuildDefinition): string => {
  if (!Predicate.isRecord(merged)) return JSON.stringify(merged)
  const filled = sortByName(Object.entries(merged)).map(([key, value]) => {
    const { values } = partOf(key).from
    if (key !== "args") return [key, fillIn(value, values)]
    // An argument without a value has that of the variable of its name.
    const args = toEntries(value, /=/).map(([name, given]) =>
      [name, fillIn(given ?? values.get(name), values)] as const
    )
    return [key, sortByName(args)]
  })
  return JSON.stringify(filled)
}

/** Sources of `additional_contexts`: directories relative to the project, and services whose images they are. */
export const listAdditionalContexts = (
  { merged, partOf }: BuildDefinition
): { readonly directories: ReadonlyArray<string>; readonly services: ReadonlyArray<string> } => {
  const { base, values } = partOf("additional_contexts").from
  const given = toEntries(Predicate.isRecord(merged) ? merged["additional_contexts"] : undefined, /=/)
    .flatMap(([, written]) => Predicate.isString(written) ? [interpolate(written, values).text] : [])
  return {
    directories: given.filter((text) => text !== "" && !/^[\w+.-]+:/.test(text)).map((text) =>
      joinRelative(base, text) || "."
    ),
    services: given.flatMap((text) => text.startsWith("service:") ? [text.slice("service:".length)] : [])
  }
}
