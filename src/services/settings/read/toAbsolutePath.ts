import type { Path } from "@effect/platform"
import { resolveHomeDirectory } from "../../local/resolveHomeDirectory.ts"

/** A local path made absolute: `~` is the home directory, anything relative is relative to `folder`. */
export const toAbsolutePath = (path: Path.Path, folder: string, text: string): string =>
  /^~(?:[/\\]|$)/.test(text) ? path.join(resolveHomeDirectory(), text.slice(1)) : path.resolve(folder, text)
