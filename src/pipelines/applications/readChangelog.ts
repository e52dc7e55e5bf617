import { Path } from "@effect/platform"
import { Array, Effect, Option, Schema } from "effect"
import {
  ChangelogEntry,
  changelogFileName,
  type ChangelogPage,
  type ChangelogQuery
} from "../../schema/applications/Changelog.ts"
import type { ProjectFileInvalid } from "../../schema/projects/Project.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import { secretsInUse } from "../../services/secrets/secretsInUse.ts"
import { redactJson } from "../../services/secrets/shownText.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import { makeInvalidAt, parseJsonSource } from "../projects/files/projectSource.ts"
import { readProjectText } from "../projects/files/readProjectText.ts"
import { type DirectoryRefused, resolveProjectDirectory } from "../projects/files/resolveProjectDirectory.ts"

const mostMiB = 16
const usualLimit = 20

const decodeEntry = Schema.decodeUnknownOption(ChangelogEntry)

/**
 * Reads a page of a project's changelog, newest first. A missing changelog counts as empty; invalid entries are counted
 * and left out.
 */
export const readChangelog = Effect.fn("readChangelog")(function*(
  { appName, before, limit = usualLimit, projectPath }: ChangelogQuery
): Effect.fn.Return<ChangelogPage, DirectoryRefused | ProjectFileInvalid, LocalFiles | Path.Path | Settings> {
  const directory = yield* resolveProjectDirectory(projectPath)
  const text = Option.getOrElse(yield* readProjectText(directory, changelogFileName, { mostMiB }), () => "")
  const file = (yield* Path.Path).join(directory, changelogFileName)
  const source = yield* parseJsonSource(file, text.trim() === "" ? "[]" : text)
  const { content } = source
  if (!Array.isArray(content)) return yield* makeInvalidAt(source, [], "must be an array")
  const decoded = content.map((each, index) => [index + 1, decodeEntry(each)] as const)
  const known = decoded.flatMap(([number, entry]) =>
    Option.match(entry, { onNone: () => [], onSome: (entry) => [{ number, ...entry }] })
  )
  const wanted = known.filter((entry) =>
    (appName === undefined || entry.appName === appName) && (before === undefined || entry.number < before)
  ).toReversed()
  const page = wanted.slice(0, limit)
  const last = page.at(-1)
  const secrets = yield* secretsInUse
  return {
    entries: page.map((entry) => ({
      ...entry,
      changes: entry.changes.map((change) => ({
        ...change,
        old: redactJson(change.old, secrets),
        new: redactJson(change.new, secrets)
      })),
      configSnapshot: Object.fromEntries(
        Object.entries(entry.configSnapshot).map(([key, value]) => [key, redactJson(value, secrets)])
      )
    })),
    next: last === undefined || wanted.length <= limit ? null : String(last.number),
    unreadable: decoded.length - known.length
  }
})
