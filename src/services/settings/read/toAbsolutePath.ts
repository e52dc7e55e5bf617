import type { Path } from "@effect/platform"
import { resolveHomeDirectory } from "../../local/resolveHomeDirectory.ts"

/** Makes a local path absolute: `~` is the home directory, a relative path is relative to `folder`. */
export const toAbsolutePath = (path: Path.Path, folder: string, text: string): string =>
  /^~(?:[/\\]|$)/.test(text) ? path.join(resolveHomeDirectory(), text.slice(1)) : path.resolve(folder, text)
