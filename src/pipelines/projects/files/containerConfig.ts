import { Path } from "@effect/platform"
import { Effect, Either, Option, Schema } from "effect"
import { ContainerConfig, containerConfigName, type ProjectFileInvalid } from "../../../schema/projects/Project.ts"
import { stackPathIn } from "../../../schema/servers/RemotePath.ts"
import type { LocalEntry, LocalFileFailed, LocalFiles } from "../../../services/local/LocalFiles.ts"
import { confinedText } from "./confinedText.ts"
import { decodedPart, invalidAt, jsonSource, type ProjectSource } from "./projectSource.ts"

const decodeConfig = Schema.decodeUnknown(ContainerConfig, { errors: "all", onExcessProperty: "error" })

/** Fails where `targets` stand beside a single place, or one of them names a directory that no stack can have. */
const checkTargets = (source: ProjectSource, { remotePath, serverId, targets }: ContainerConfig) => {
  if (targets === undefined || targets === null) return Effect.void
  const single = Object.entries({ serverId, remotePath }).find(([, value]) => value !== undefined && value !== null)
  if (single !== undefined) {
    const [field] = single
    return invalidAt(source, [field], `${field} and targets exclude each other: keep one of them`)
  }
  return Effect.forEach(
    targets,
    (target, index) =>
      Either.match(stackPathIn("remotePath", target.remotePath ?? "~/containers/project"), {
        onLeft: ({ reason }) => {
          const field = `targets[${index}].remotePath`
          return Effect.fail(invalidAt(source, ["targets", index, "remotePath"], `${field} ${reason}`))
        },
        onRight: () => Effect.void
      }),
    { discard: true }
  )
}

/**
 * A project's `container.json`; empty when there is none. What does not fit is named with file, line, column and field.
 * @param seen what a look at the directory told of it just now, where it is not a link
 */
export const readContainerConfig = Effect.fn("readContainerConfig")(function*(
  directory: string,
  seen?: LocalEntry
): Effect.fn.Return<ContainerConfig, ProjectFileInvalid | LocalFileFailed, LocalFiles | Path.Path> {
  const file = (yield* Path.Path).join(directory, containerConfigName)
  const text = yield* confinedText(directory, containerConfigName, Effect.succeed(false), { seen })
  if (Option.isNone(text)) return {}
  const source = yield* jsonSource(file, text.value)
  const config = yield* decodedPart(source, [], decodeConfig(source.content), { whole: "its content", part: "field" })
  yield* checkTargets(source, config)
  return config
})
