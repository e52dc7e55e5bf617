import type { Path } from "@effect/platform"
import { Effect, type Option } from "effect"
import type { ProjectFileInvalid } from "../../../schema/projects/Project.ts"
import type { LocalFileFailed, LocalFiles } from "../../../services/local/LocalFiles.ts"
import { readContainerConfig } from "./containerConfig.ts"
import { readConfinedText, type ReadOptions } from "./readConfinedText.ts"

/**
 * Text of a project's configuration file without its byte order mark, at most 1 MiB or the given limit; none if the
 * file is missing. Rejects a link that leads out of the project, unless `container.json` allows such links.
 */
export const readProjectText = (
  directory: string,
  name: string,
  options: ReadOptions = {}
): Effect.Effect<Option.Option<string>, ProjectFileInvalid | LocalFileFailed, LocalFiles | Path.Path> =>
  readConfinedText(
    directory,
    name,
    Effect.match(readContainerConfig(directory), {
      onSuccess: ({ allowLinks }) => allowLinks === true,
      onFailure: () => false
    }),
    options
  )
