import { Path } from "@effect/platform"
import { Effect } from "effect"
import { type ContainerConfig, containerConfigName, ProjectFileInvalid } from "../../../schema/projects/Project.ts"
import { type LocalFileFailed, LocalFiles } from "../../../services/local/LocalFiles.ts"

/**
 * Resolves a name of a project through its links. A link that leads out of the project is refused
 * unless its `container.json` allows it: otherwise anybody who can add a link to a project gets any file of this
 * machine uploaded or shown.
 * @param name relative to the project, with `/`
 */
export const resolveLink = Effect.fn("resolveLink")(function*(
  directory: string,
  name: string,
  { allowLinks }: Pick<ContainerConfig, "allowLinks">
): Effect.fn.Return<string, ProjectFileInvalid | LocalFileFailed, LocalFiles | Path.Path> {
  const path = yield* Path.Path
  const files = yield* LocalFiles
  const root = yield* files.realPath(directory)
  const leadsOut = (real: string) => {
    const below = path.relative(root, real)
    return below === ".." || below.startsWith(`..${path.sep}`) || path.isAbsolute(below)
  }
  const segments = name.split("/")
  const real = yield* files.realPath(path.join(directory, ...segments))
  if (allowLinks === true || !leadsOut(real)) return real
  // The first link on the way that leads out is the one to mend.
  for (let count = 1; count <= segments.length; count++) {
    const link = path.join(directory, ...segments.slice(0, count))
    const target = yield* files.realPath(link)
    if (leadsOut(target)) {
      return yield* new ProjectFileInvalid({
        file: link,
        reason: `is a link that leads out of the project, to ${target}. Copy what it leads to into the project` +
          (name === containerConfigName ? "" : `, or allow it with "allowLinks": true in ${containerConfigName}`)
      })
    }
  }
  return real
})
