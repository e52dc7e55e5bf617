import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { parseContainerName } from "../stack/containersCommand.ts"
import { script } from "./findContainers.sh.ts"

/** Lists the containers of the stack in a directory, running or not. */
export const findContainersCommand = (remotePath: string, sudo: boolean): RemoteCommand => ({
  what: `looking for the containers of ${remotePath}`,
  script,
  args: [remotePath],
  sudo
})

/** A container of a stack, from its Compose labels. */
export interface StackContainer {
  readonly id: string
  readonly name: string
  readonly service: string
  readonly number: number
  /** State as Docker names it: `running`, `exited`. */
  readonly state: string
}

/**
 * Parses the answer of `findContainersCommand`, without containers of `compose run`; undefined if the directory does
 * not exist.
 */
export const parseFoundContainers = (output: string): ReadonlyArray<StackContainer> | undefined => {
  const lines = output.split("\n")
  if (lines.includes("absent")) return undefined
  return lines.flatMap((line) => {
    const [id = "", names = "", service = "", number = "", state = "", oneoff = ""] = line.replace(/\r$/, "").split("|")
    return /^[0-9a-f]{12,64}$/.test(id) && service !== "" && oneoff !== "True"
      ? [{ id, name: parseContainerName(names), service, number: Number(number) || 0, state }]
      : []
  })
}
