import { Path } from "@effect/platform"
import { Effect, Option, Predicate, Schema } from "effect"
import { isNode, LineCounter, parseDocument } from "yaml"
import { inWords } from "../../schema/inWords.ts"
import { mistakesIn } from "../../schema/mistakes.ts"
import { ContainerConfig, containerConfigName, ProjectFileInvalid } from "../../schema/Project.ts"
import type { LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { projectText } from "./projectText.ts"

const parseJson = Schema.decodeUnknown(Schema.parseJson())
const decodeConfig = Schema.decodeUnknown(ContainerConfig, { errors: "all", onExcessProperty: "error" })

/** The line of a value in JSON text, or of its first mistake. */
const lineIn = (text: string, path: ReadonlyArray<PropertyKey>): number | undefined => {
  const lines = new LineCounter()
  const document = parseDocument(text, { schema: "json", lineCounter: lines })
  const mistake = document.errors[0]
  if (mistake !== undefined) return lines.linePos(mistake.pos[0]).line
  const node = document.getIn(path, true)
  return isNode(node) && Predicate.isNotNullable(node.range) ? lines.linePos(node.range[0]).line : undefined
}

const at = (file: string, line: number | undefined) => (line === undefined ? file : `${file}:${line}`)

/** A project's `container.json`; empty when there is none. What does not fit is named with file, line and field. */
export const readContainerConfig = Effect.fn("readContainerConfig")(function*(
  directory: string
): Effect.fn.Return<ContainerConfig, ProjectFileInvalid | LocalFileFailed, LocalFiles | Path.Path> {
  const file = (yield* Path.Path).join(directory, containerConfigName)
  const text = yield* projectText(directory, containerConfigName)
  if (Option.isNone(text)) return {}
  const json = yield* Effect.mapError(
    parseJson(text.value),
    () => new ProjectFileInvalid({ file: at(file, lineIn(text.value, [])), reason: "is not valid JSON" })
  )
  return yield* Effect.mapError(decodeConfig(json), (error) => {
    const mistakes = mistakesIn(error.issue)
    const path = mistakes[0]?.path ?? []
    const reason = inWords(mistakes, { whole: "its content", part: "field" })
    return new ProjectFileInvalid({ file: at(file, lineIn(text.value, path)), reason })
  })
})
