import type { StackAction } from "../../schema/deploy/Stack.ts"
import { makeLineLimit } from "../../services/ssh/AnswerLimit.ts"
import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { type ContainerState, parseInspect } from "./inspectCommand.ts"
import { script } from "./stack.sh.ts"

/**
 * Does something to the stack in a directory, or only looks at it: at once, or when nothing is under way there any more.
 * It goes on when nobody waits for it any more.
 */
export const stackCommand = (
  action: StackAction | "look" | "settled",
  remotePath: string,
  sudo: boolean,
  { volumes = false }: { readonly volumes?: boolean } = {}
): RemoteCommand => ({
  what: `${action === "look" || action === "settled" ? "looking at" : action} ${remotePath}`,
  script,
  args: [action, remotePath, volumes ? "yes" : "no"],
  sudo,
  // The state of a container holds what its last health checks printed.
  limit: makeLineLimit(8, 100_000)
})

/** Stack on a server, and the changes that an action made to it. */
export interface StackAnswer {
  /** Missing stack, or missing containers of one. */
  readonly lacks: "stack" | "containers" | undefined
  readonly containers: ReadonlyArray<ContainerState>
  /** The files and images that were removed, and the files that could not be. */
  readonly removed: ReadonlyArray<string>
  readonly images: ReadonlyArray<string>
  readonly left: ReadonlyArray<string>
}

/** Reads the answer of `stackCommand`. */
export const parseStack = (output: string): StackAnswer => {
  const lines = output.split("\n")
  const values = (key: string) =>
    lines.flatMap((line) => line.startsWith(`${key}\t`) ? [line.slice(key.length + 1)] : [])
  return {
    lacks: lines.includes("absent") ? "stack" : lines.includes("empty") ? "containers" : undefined,
    containers: parseInspect(output),
    removed: values("removed"),
    images: values("image"),
    left: values("left")
  }
}
