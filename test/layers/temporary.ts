import { Effect } from "effect"
import type { Scope } from "effect"
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

/** A private directory that goes with the scope. */
export const temporaryDirectory: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.promise(async () => realpath(await mkdtemp(join(tmpdir(), "berth-test-")))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

/** Entry to create at a path: the content of a file, a link, or an empty directory. */
export type Planted = string | Uint8Array | { readonly link: string } | { readonly directory: true }

/** Puts files, links and directories below a directory, with everything that is missing above them. */
export const plant = (root: string, tree: { readonly [path: string]: Planted }): Effect.Effect<void> =>
  Effect.promise(async () => {
    await mkdir(root, { recursive: true })
    for (const [name, content] of Object.entries(tree)) {
      const path = join(root, name)
      await mkdir(dirname(path), { recursive: true })
      if (typeof content === "string" || content instanceof Uint8Array) await writeFile(path, content)
      else if ("link" in content) await symlink(content.link, path)
      else await mkdir(path, { recursive: true })
    }
  })
