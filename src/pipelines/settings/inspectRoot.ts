import { Path } from "@effect/platform"
import { Effect, Either, Option } from "effect"
import { settingDefinitions } from "../../schema/Settings.ts"
import type { ProjectsRoot, SettingJson } from "../../schema/settings/SettingsList.ts"
import { LocalFiles } from "../../services/local/LocalFiles.ts"
import { hasReference } from "../../services/settings/read/reference.ts"
import { toAbsolutePath } from "../../services/settings/read/toAbsolutePath.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { listProjectsIn } from "../projects/listProjects.ts"

/** Directory that `projects.root` would name; none for a reference, which is only resolved once stored. */
const rootPath = (value: SettingJson) =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    const { file } = yield* Settings
    const text = value ?? settingDefinitions["projects.root"].fallback
    return typeof text !== "string" || text === "" || hasReference(text)
      ? Option.none()
      : Option.some(toAbsolutePath(path, path.dirname(file), text))
  })

// Limit for a form that inspects paths while the user types: a huge directory must not block it.
const mostPlaces = 1_000

/** Inspects a directory as a possible projects root. */
const inspect = (path: string) =>
  Effect.gen(function*() {
    const files = yield* LocalFiles
    const standing = (standing: ProjectsRoot["standing"], projects = 0): ProjectsRoot => ({ path, standing, projects })
    const found = yield* Effect.either(files.find(path))
    if (Either.isLeft(found)) return standing("unreadable")
    if (Option.isNone(found.right)) return standing("missing")
    if (found.right.value.kind !== "directory") return standing("not a directory")
    return yield* Effect.match(listProjectsIn(path, mostPlaces), {
      onFailure: () => standing("unreadable"),
      onSuccess: ({ length }) => standing("usable", length)
    })
  })

/**
 * Inspects the directory that `projects.root` would name.
 * @param create creates the directory if it is missing
 */
export const inspectRoot = Effect.fn("settings.inspectRoot")(function*(value: SettingJson, create: boolean) {
  const path = yield* rootPath(value)
  if (Option.isNone(path)) return Option.none<ProjectsRoot>()
  const seen = yield* inspect(path.value)
  if (!create || seen.standing !== "missing") return Option.some(seen)
  yield* (yield* LocalFiles).makeDirectory(path.value)
  return Option.some(yield* inspect(path.value))
})
