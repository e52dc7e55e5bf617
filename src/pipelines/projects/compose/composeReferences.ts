import { Array, Effect, Predicate } from "effect"
import type { ProjectFileInvalid } from "../../../schema/projects.ts"
import { makeInvalidAt } from "../files.ts"
import {
  type ComposeSource,
  fillIn,
  formatPlace,
  joinRelative,
  listFieldParts,
  type PartPath,
  type ServicePart
} from "./composeSources.ts"

/** A file or directory beside the compose files that services need on the server. */
export interface ComposeReference {
  /** Relative to the project; begins with `..` where it leaves the project. */
  readonly path: string
  /** First place that names it: `compose.yml:14`. */
  readonly at: string
  /** Use that the deploy has to know: the file of a secret is private. */
  readonly kind: "mount" | "config" | "secret" | "label"
  /** Services whose containers see it. */
  readonly services: ReadonlyArray<string>
  /** True if a container may write to it. */
  readonly isWritable: boolean
  /** True if nothing that is started needs it, or if Docker shall make the directory. */
  readonly isOptional: boolean
}

const mostReferences = 5_000

/** A reference of one service. */
interface Use extends Omit<ComposeReference, "services"> {
  readonly service: string | undefined
}

interface Mount {
  readonly source: string
  readonly target: string
  readonly isWritable: boolean
  readonly isOptional: boolean
}

const isPath = (source: string) => /^[./~]/.test(source)

/** Reads `SOURCE:TARGET[:OPTIONS]`; undefined for a named volume and for an anonymous one. */
const readShort = (text: string): Mount | undefined => {
  const [source = "", target, options = ""] = text.split(":")
  return target === undefined || !isPath(source)
    ? undefined
    : { source, target, isWritable: !options.split(",").includes("ro"), isOptional: false }
}

const readMount = (written: unknown, fill: (text: string) => Effect.Effect<string, ProjectFileInvalid>) =>
  Effect.gen(function*() {
    if (Predicate.isString(written)) return readShort(yield* fill(written))
    if (!Predicate.isRecord(written) || written["type"] !== "bind") return undefined
    const { bind, read_only, source, target } = written
    if (!Predicate.isString(source)) return undefined
    const path = yield* fill(source)
    const isReadOnly = Predicate.isString(read_only) ? (yield* fill(read_only)) === "true" : read_only === true
    return {
      source: isPath(path) ? path : `./${path}`,
      target: Predicate.isString(target) ? yield* fill(target) : "",
      isWritable: !isReadOnly,
      isOptional: Predicate.isRecord(bind) && bind["create_host_path"] === true
    } satisfies Mount
  })

/** The working directory is the project's: `${PWD}/nginx.conf` is a file of it. */
const withDirectory = (from: ComposeSource): ComposeSource =>
  from.values.has("PWD") ? from : { ...from, values: new Map([...from.values, ["PWD", "."]]) }

const listOf = (value: unknown): ReadonlyArray<unknown> =>
  Predicate.isNullable(value) ? [] : Array.isArray(value) ? value : [value]

/** Mounts of the project's own paths, the last one of each target. */
const listMounts = (parts: ReadonlyArray<ServicePart>) =>
  Effect.gen(function*() {
    const byTarget = new Map<string, { readonly mount: Mount; readonly from: ComposeSource; readonly path: PartPath }>()
    for (const { fields, from, path } of listFieldParts(parts, "volumes")) {
      const filled = withDirectory(from)
      for (const [index, written] of listOf(fields.volumes).entries()) {
        const at = [...path, "volumes", index]
        const mount = yield* readMount(written, (text) => fillIn(filled, at, text))
        if (mount !== undefined) byTarget.set(mount.target, { mount, from, path: at })
        else if (Predicate.isString(written)) byTarget.delete(written.split(":")[1] ?? written)
      }
    }
    return [...byTarget.values()]
  })

const isTrue = (value: unknown) => value === true || value === "true"

/** Files of a top-level section by name: `configs` or `secrets`. */
const listSectionFiles = (sources: ReadonlyArray<ComposeSource>, section: "configs" | "secrets") =>
  Effect.gen(function*() {
    const found = new Map<string, { readonly file: string; readonly from: ComposeSource; readonly path: PartPath }>()
    for (const from of sources) {
      const content = from.source.content
      const entries = Predicate.isRecord(content) ? content[section] : undefined
      if (!Predicate.isRecord(entries)) continue
      for (const [name, entry] of Object.entries(entries)) {
        if (!Predicate.isRecord(entry) || isTrue(entry["external"]) || !Predicate.isString(entry["file"])) continue
        const path = [section, name, "file"]
        found.set(name, { file: yield* fillIn(withDirectory(from), path, entry["file"]), from, path })
      }
    }
    return found
  })

/** Names of the configs or secrets that a service uses. */
const listUsed = (parts: ReadonlyArray<ServicePart>, field: "configs" | "secrets"): ReadonlyArray<string> =>
  listFieldParts(parts, field).flatMap(({ fields }) =>
    listOf(fields[field]).flatMap((use) => {
      const name = Predicate.isRecord(use) ? use["source"] : use
      return Predicate.isString(name) ? [name] : []
    })
  )

const listLabelFiles = (parts: ReadonlyArray<ServicePart>) =>
  Effect.forEach(listFieldParts(parts, "label_file"), ({ fields, from, path }) =>
    Effect.forEach(
      listOf(fields.label_file).filter(Predicate.isString),
      (file) =>
        Effect.map(
          fillIn(from, [...path, "label_file"], file),
          (text) => ({ file: text, from, path: [...path, "label_file"] })
        )
    )).pipe(Effect.map((found) => found.flat()))

const combine = (uses: ReadonlyArray<Use>): ReadonlyArray<ComposeReference> => {
  const found = new Map<string, ComposeReference>()
  for (const { service, ...use } of uses) {
    const before = found.get(use.path)
    const services = service === undefined ? [] : [service]
    found.set(
      use.path,
      before === undefined ? { ...use, services } : {
        ...before,
        kind: use.kind === "secret" ? "secret" : before.kind,
        services: Array.dedupe([...before.services, ...services]),
        isWritable: before.isWritable || use.isWritable,
        isOptional: before.isOptional && use.isOptional
      }
    )
  }
  return [...found.values()]
}

/**
 * Lists the paths of the project that services mount, and the files of configs, secrets and labels, without duplicates.
 * Absolute paths are the server's own.
 * @param sources all compose files, later ones over earlier ones
 * @param running names of the services that a start runs
 */
export const listReferences = Effect.fn("listReferences")(function*(
  sources: ReadonlyArray<ComposeSource>,
  services: ReadonlyMap<string, ReadonlyArray<ServicePart>>,
  running: ReadonlySet<string>
): Effect.fn.Return<ReadonlyArray<ComposeReference>, ProjectFileInvalid> {
  const uses: Array<Use> = []
  const add = (from: ComposeSource, path: PartPath, written: string, use: Omit<Use, "at" | "path">) => {
    const joined = joinRelative(from.base, written)
    if (/^[/~]/.test(joined)) return Effect.void
    if (uses.length >= mostReferences) {
      return makeInvalidAt(from.source, path, `is one more than the ${mostReferences} files that services may name`)
    }
    uses.push({ ...use, path: joined === "" ? "." : joined, at: formatPlace(from, path) })
    return Effect.void
  }
  const sections = {
    configs: yield* listSectionFiles(sources, "configs"),
    secrets: yield* listSectionFiles(sources, "secrets")
  }
  for (const [service, parts] of services) {
    const isOptional = !running.has(service)
    for (const { from, mount, path } of yield* listMounts(parts)) {
      const { isWritable, source } = mount
      yield* add(from, path, source, { kind: "mount", service, isWritable, isOptional: isOptional || mount.isOptional })
    }
    for (const { file, from, path } of yield* listLabelFiles(parts)) {
      yield* add(from, path, file, { kind: "label", service, isWritable: false, isOptional })
    }
    for (const field of ["configs", "secrets"] as const) {
      for (const name of listUsed(parts, field)) {
        const found = sections[field].get(name)
        if (found === undefined) continue
        const kind = field === "configs" ? "config" : "secret"
        yield* add(found.from, found.path, found.file, { kind, service, isWritable: false, isOptional })
      }
    }
  }
  const used = new Set(uses.map(({ path }) => path))
  for (const field of ["configs", "secrets"] as const) {
    for (const { file, from, path } of sections[field].values()) {
      if (used.has(joinRelative(from.base, file))) continue
      const kind = field === "configs" ? "config" : "secret"
      yield* add(from, path, file, { kind, service: undefined, isWritable: false, isOptional: true })
    }
  }
  return combine(uses)
})
