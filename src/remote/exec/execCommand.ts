import type { RemoteCommand, RemoteTerminal } from "../../services/ssh/RemoteCommand.ts"
import { script as endScript } from "./endExec.sh.ts"
import { script } from "./exec.sh.ts"
import { script as shellScript } from "./findShell.sh.ts"

/** Escapes a word for the script's `printf %b`, because arguments of a remote command must not contain line breaks. */
const escaped = (word: string): string =>
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
  args: [container.id, mark, terminal?.type ?? "", ...words.map(escaped)],
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
