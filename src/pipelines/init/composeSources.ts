import { Path } from "@effect/platform"
import { Array, Effect, Either, Option, Predicate } from "effect"
import { type LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { parseComposeContent } from "../projects/compose/serviceDefinitions.ts"
import { normalizeRelativeName } from "../projects/files/normalizeRelativeName.ts"

/** Directory that a stack writes itself. */
const ownData = /^data(?:\/|$)/

/** Path on the host of a mount, `./nginx.conf:/etc/nginx.conf:ro` or its long form; undefined for a volume's name. */
const findMountSource = (mount: unknown): string | undefined => {
  if (Predicate.isString(mount)) return /^(\.[^:]*):/.exec(mount)?.[1]
  return Predicate.isRecord(mount) && mount["type"] === "bind" && Predicate.isString(mount["source"])
    ? mount["source"]
    : undefined
}

const findContext = (build: unknown): string | undefined => {
  const context = Predicate.isRecord(build) ? build["context"] : build
  return Predicate.isString(context) ? context : undefined
}

const listSources = (content: unknown): ReadonlyArray<string> => {
  const services = Predicate.isRecord(content) ? content["services"] : undefined
  return Object.values(Predicate.isRecord(services) ? services : {}).flatMap((service) => {
    if (!Predicate.isRecord(service)) return []
    const mounts = Array.ensure(service["volumes"] ?? []).map(findMountSource)
    return [findContext(service["build"]), ...mounts].filter((source) => source !== undefined)
  })
}

/**
 * Lists what a compose file needs beside it: directories that services are built from, and mounted files and directories.
 * Only what exists in the project, is no reference and lies below it, but not what the stack writes to `data`.
 * @param text content of the compose file
 */
export const listComposeSources = Effect.fn("init.listComposeSources")(function*(
  directory: string,
  text: string
): Effect.fn.Return<ReadonlyArray<string>, LocalFileFailed, LocalFiles | Path.Path> {
  const files = yield* LocalFiles
  const path = yield* Path.Path
  const named = listSources(parseComposeContent(text)).flatMap((source) =>
    source.includes("$")
      ? []
      : Either.match(normalizeRelativeName(source), { onLeft: () => [], onRight: (name) => [name] })
  )
  const names = Array.dedupe(named).filter((name) => !ownData.test(name))
  return yield* Effect.filter(names, (name) => Effect.map(files.find(path.join(directory, name)), Option.isSome))
})
