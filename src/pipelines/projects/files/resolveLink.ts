import { Path } from "@effect/platform"
import { Effect } from "effect"
import { type ContainerConfig, containerConfigName, ProjectFileInvalid } from "../../../schema/projects/Project.ts"
import { type LocalFileFailed, LocalFiles } from "../../../services/local/LocalFiles.ts"

/**
 * Resolves a project's file name through its links. Rejects a link that leads out of the project unless
 * `container.json` allows it; otherwise a link in a project could upload or reveal any local file.
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
  // Report the first link on the way that leads out, because that one has to be fixed.
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
