import { Path } from "@effect/platform"
import { Effect, Either, Option, Schema } from "effect"
import { ContainerConfig, containerConfigName, type ProjectFileInvalid } from "../../../schema/projects/Project.ts"
import { parseStackPath } from "../../../schema/servers/RemotePath.ts"
import type { LocalEntry, LocalFileFailed, LocalFiles } from "../../../services/local/LocalFiles.ts"
import { decodePart, makeInvalidAt, parseJsonSource, type ProjectSource } from "./projectSource.ts"
import { readConfinedText } from "./readConfinedText.ts"

const decodeConfig = Schema.decodeUnknown(ContainerConfig, { errors: "all", onExcessProperty: "error" })

/** Fails if `targets` is combined with a single place, or if one of them names a directory that no stack can have. */
const checkTargets = (source: ProjectSource, { remotePath, serverId, targets }: ContainerConfig) => {
  if (targets === undefined || targets === null) return Effect.void
  const single = Object.entries({ serverId, remotePath }).find(([, value]) => value !== undefined && value !== null)
  if (single !== undefined) {
    const [field] = single
    return makeInvalidAt(source, [field], `${field} and targets exclude each other: keep one of them`)
  }
  return Effect.forEach(
    targets,
    (target, index) =>
      Either.match(parseStackPath("remotePath", target.remotePath ?? "~/containers/project"), {
        onLeft: ({ reason }) => {
          const field = `targets[${index}].remotePath`
          return Effect.fail(makeInvalidAt(source, ["targets", index, "remotePath"], `${field} ${reason}`))
        },
        onRight: () => Effect.void
      }),
    { discard: true }
  )
}

/**
 * Reads a project's `container.json`; empty if there is none. Errors name file, line, column and field.
 * @param seen its current entry in the directory listing, unless it is a link; saves a second stat
 */
export const readContainerConfig = Effect.fn("readContainerConfig")(function*(
  directory: string,
  seen?: LocalEntry
): Effect.fn.Return<ContainerConfig, ProjectFileInvalid | LocalFileFailed, LocalFiles | Path.Path> {
  const file = (yield* Path.Path).join(directory, containerConfigName)
  const text = yield* readConfinedText(directory, containerConfigName, Effect.succeed(false), { seen })
  if (Option.isNone(text)) return {}
  const source = yield* parseJsonSource(file, text.value)
  const config = yield* decodePart(source, [], decodeConfig(source.content), { whole: "its content", part: "field" })
  yield* checkTargets(source, config)
  return config
})
