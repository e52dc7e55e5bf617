import type { Path } from "@effect/platform"
import { Effect } from "effect"
import type { Option } from "effect"
import type { ProjectFileInvalid } from "../../schema/Project.ts"
import type { LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { confinedText, type ReadOptions } from "./confinedText.ts"
import { readContainerConfig } from "./containerConfig.ts"

/**
 * The text of a project's configuration file, up to 1 MiB or so many, and without a byte order mark; nothing when there is no such
 * file. A link that leads out of the project is refused, unless its `container.json` allows such links.
 */
export const projectText = (
  directory: string,
  name: string,
  options: ReadOptions = {}
): Effect.Effect<Option.Option<string>, ProjectFileInvalid | LocalFileFailed, LocalFiles | Path.Path> =>
  confinedText(
    directory,
    name,
    Effect.match(readContainerConfig(directory), {
      onSuccess: ({ allowLinks }) => allowLinks === true,
      onFailure: () => false
    }),
    options
  )
