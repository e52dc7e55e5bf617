import type { RemoteCommand, RemoteTerminal } from "../services/ssh/Ssh.ts"
import { script as endScript } from "./exec/endExec.sh.ts"
import { script } from "./exec/exec.sh.ts"
import { script as findContainersScript } from "./exec/findContainers.sh.ts"
import { script as shellScript } from "./exec/findShell.sh.ts"
import { parseContainerName } from "./stack.ts"

/** Escapes a word for a script's `printf %b`, because lines and arguments of a remote command must not contain line breaks. */
export const escapeWord = (word: string): string =>
  word.replaceAll("\\", "\\\\").replaceAll("\n", "\\0012").replaceAll("\r", "\\0015")

/**
 * Runs a command in a container, on a terminal if one is given.
 * @param mark unique text by which `endExecCommand` finds the started processes
 */
export const execCommand = (
  container: { readonly id: string; readonly name: string },
  mark: string,
  words: ReadonlyArray<string>,
  { sudo, terminal }: { readonly sudo: boolean; readonly terminal: RemoteTerminal | undefined }
): RemoteCommand => ({
  what: `running a command in ${container.name}`,
  script,
  args: [container.id, mark, terminal?.type ?? "", ...words.map(escapeWord)],
  sudo,
  pool: "commands",
  ...(terminal === undefined ? {} : { terminal })
})

/** Ends the processes that `execCommand` started with this mark, if they are still running. */
export const endExecCommand = (mark: string, sudo: boolean): RemoteCommand => ({
  what: "ending a command in a container",
  script: endScript,
  args: [mark],
  sudo
})

/** Finds the shell of a container: prints `bash`, `sh`, or nothing. */
export const findShellCommand = (
  container: { readonly id: string; readonly name: string },
  sudo: boolean
): RemoteCommand => ({
  what: `looking for a shell in ${container.name}`,
  script: shellScript,
  args: [container.id],
  sudo
})

/** Lists the containers of the stack in a directory, running or not. */
export const findContainersCommand = (remotePath: string, sudo: boolean): RemoteCommand => ({
  what: `looking for the containers of ${remotePath}`,
  script: findContainersScript,
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
