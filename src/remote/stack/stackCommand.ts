import type { StackAction } from "../../schema/deploy/Stack.ts"
import { makeLineLimit } from "../../services/ssh/AnswerLimit.ts"
import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { type ContainerState, parseInspect } from "./inspectCommand.ts"
import { script } from "./stack.sh.ts"

/**
 * Runs an action on the stack in a directory, or only inspects it: immediately, or once no activation is running there.
 * Continues even if the caller stops waiting.
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
  // A container's state includes the output of its last health checks.
  limit: makeLineLimit(8, 100_000)
})

/** Stack on a server, and the changes that an action made to it. */
export interface StackAnswer {
  /** Missing part: the stack, or its containers. */
  readonly lacks: "stack" | "containers" | undefined
  readonly containers: ReadonlyArray<ContainerState>
  /** Removed files and images, and files that could not be removed. */
  readonly removed: ReadonlyArray<string>
  readonly images: ReadonlyArray<string>
  readonly left: ReadonlyArray<string>
}

/** Parses the answer of `stackCommand`. */
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
