import { Path } from "@effect/platform"
import { Effect, Either, Option, Schema } from "effect"
import { inWords } from "../../schema/inWords.ts"
import { mistakesIn } from "../../schema/mistakes.ts"
import { ContainerConfig, containerConfigName, ProjectFileInvalid } from "../../schema/Project.ts"
import { jsonLine, parseJson } from "../../services/foreign/json.ts"
import type { LocalEntry, LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { confinedText } from "./confinedText.ts"

const decodeConfig = Schema.decodeUnknown(ContainerConfig, { errors: "all", onExcessProperty: "error" })

/**
 * A project's `container.json`; empty when there is none. What does not fit is named with file, line and field.
 * @param seen what a look at the directory told of it just now, where it is not a link
 */
export const readContainerConfig = Effect.fn("readContainerConfig")(function*(
  directory: string,
  seen?: LocalEntry
): Effect.fn.Return<ContainerConfig, ProjectFileInvalid | LocalFileFailed, LocalFiles | Path.Path> {
  const file = (yield* Path.Path).join(directory, containerConfigName)
  const text = yield* confinedText(directory, containerConfigName, Effect.succeed(false), { seen })
  if (Option.isNone(text)) return {}
  const json = yield* Either.mapLeft(
    parseJson(text.value),
    ({ column, line, reason }) =>
      new ProjectFileInvalid({ file: `${file}:${line}:${column}`, reason: `is not valid JSON: ${reason}` })
  )
  return yield* Effect.mapError(decodeConfig(json), (error) => {
    const mistakes = mistakesIn(error.issue)
    const path = mistakes[0]?.path ?? []
    const reason = inWords(mistakes, { whole: "its content", part: "field" })
    return new ProjectFileInvalid({ file: `${file}:${jsonLine(text.value, path)}`, reason })
  })
})
