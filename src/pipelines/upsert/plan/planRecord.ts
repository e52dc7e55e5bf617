import { Path } from "@effect/platform"
import { Effect, Either, Option } from "effect"
import { type Change, changelogFileName } from "../../../schema/Changelog.ts"
import { LocalFiles } from "../../../services/local/LocalFiles.ts"
import { describeChanges } from "../describe.ts"
import { type Part, part, stop } from "./Part.ts"

type Changes = ReadonlyArray<Change>

/**
 * Plans the step `changelog`. Every upsert appends an entry; it counts as a change only where it tells of one.
 * @param changes what the entry would tell of
 */
export const planChangelog = Effect.fn("planChangelog")(function*(
  projectPath: string,
  changes: Changes
): Effect.fn.Return<Part, never, LocalFiles | Path.Path> {
  const files = yield* LocalFiles
  const file = (yield* Path.Path).join(projectPath, changelogFileName)
  const content = yield* Effect.either(
    Effect.flatMap(files.find(file), (found) => Option.isSome(found) ? Effect.asVoid(files.read(file)) : Effect.void)
  )
  if (Either.isLeft(content)) return stop("changelog", content.left.message)
  const entry = `an entry with ${describeChanges(changes)}`
  return part({
    step: "changelog",
    will: changes.length === 0 ? "nothing" : "change",
    detail: `${changelogFileName}: ${entry}`,
    changes: changes.length === 0
      ? []
      : [{ target: "changelog", field: changelogFileName, label: "Changelog", old: null, new: entry }],
    writes: ["changelog"]
  })
})

/** Plans the step `deploy`. Every upsert asks for a deployment; it counts as a change only where something else changes. */
export const planDeploy = (changes: Changes): Part =>
  part({
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
