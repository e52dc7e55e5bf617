import { Path } from "@effect/platform"
import { Effect, Option, Schema } from "effect"
import { ContainerConfig, containerConfigName, type ProjectFileInvalid } from "../../../schema/projects/Project.ts"
import type { LocalEntry, LocalFileFailed, LocalFiles } from "../../../services/local/LocalFiles.ts"
import { confinedText } from "./confinedText.ts"
import { decodedPart, jsonSource } from "./projectSource.ts"

const decodeConfig = Schema.decodeUnknown(ContainerConfig, { errors: "all", onExcessProperty: "error" })

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
  return yield* decodedPart(source, [], decodeConfig(source.content), { whole: "its content", part: "field" })
})
