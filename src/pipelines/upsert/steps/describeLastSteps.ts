import type { Path } from "@effect/platform"
import { Effect, Either } from "effect"
import { type Change, changelogFileName } from "../../../schema/applications/Changelog.ts"
import type { LocalFiles } from "../../../services/local/LocalFiles.ts"
import { isChangelogValid } from "../../applications/changelog.ts"
import { describeChanges } from "../inputs/describeInputs.ts"
import { makePart, type Part, stop } from "./Part.ts"

type Changes = ReadonlyArray<Change>

/**
 * Plans the step `changelog`. Every upsert appends an entry, which counts as a change only if it describes one.
 * @param changes changes that the entry would describe
 */
export const describeChangelog = Effect.fn("describeChangelog")(function*(
  projectPath: string,
  changes: Changes
): Effect.fn.Return<Part, never, LocalFiles | Path.Path> {
  const isSound = yield* Effect.either(isChangelogValid(projectPath))
  if (Either.isLeft(isSound)) return stop("changelog", isSound.left.message)
  const entry = `an entry with ${describeChanges(changes)}`
  return makePart({
    step: "changelog",
    will: changes.length === 0 ? "nothing" : "change",
    detail: `${changelogFileName}: ${entry}`,
    changes: changes.length === 0
      ? []
      : [{ target: "changelog", field: changelogFileName, label: "Changelog", old: null, new: entry }],
    writes: ["changelog"],
    warnings: isSound.right
      ? []
      : [`${changelogFileName} is not a JSON array: it is kept beside as .corrupt, and a new one is begun`]
  })
})

/**
 * Plans the step `deploy`. Every upsert requests a deployment, which counts as a change only if something else changes.
 */
export const describeDeployment = (changes: Changes): Part =>
  makePart({
    step: "deploy",
    will: changes.length === 0 ? "nothing" : "change",
    detail: changes.length === 0
      ? "nothing new to deploy: the platform is asked to deploy again, as by every upsert"
      : "the platform is asked to deploy",
    changes: changes.length === 0
      ? []
      : [{ target: "deployment", field: "deployment", label: "Deployment", old: null, new: "requested" }],
    writes: ["deploy"]
  })
