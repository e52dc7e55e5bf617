import { isImageName, type RemoteCommand } from "../services/ssh/Ssh.ts"
import type { EnvFileNames, ImageSource } from "./activation.ts"
import { script } from "./activation/activate.sh.ts"
import { script as checkScript } from "./activation/checkCompose.sh.ts"
import { script as stagesScript } from "./activation/stages.sh.ts"
import type { ComposeKind } from "./deploy.ts"
import { buildManifestInput } from "./releases.ts"

// The scripts are long. Pipelines import this module when an activation begins, so that the service starts without them.

export interface Activation {
  /** Run of the activation, by which a recovery finds its outcome. */
  readonly run: string
  readonly remotePath: string
  readonly composeKind: ComposeKind
  readonly composeVersion: string
  readonly composeFile: string
  /** True on the containerd image store, which drops an image that loses its last name. */
  readonly containerdStore: boolean
  readonly source: ImageSource
  /** Number of files uploaded or restaged for it; any other number on the server makes it fail. */
  readonly stagedFiles: number
  readonly envFiles: EnvFileNames
  /** Image names of the stack; like the archive's names, they are restored after a failure. */
  readonly images: ReadonlyArray<string>
  /** Lines of the release's manifest. */
  readonly release: ReadonlyArray<string>
  /** Lines of what the server's Compose has to make of the files; without them, nothing is compared. */
  readonly expected?: ReadonlyArray<string> | undefined
}

/**
 * Loads the image, moves the uploaded files into place, starts the stack and inspects its containers. Prints `step`
 * lines for its stages, and on failure a `failed` line (step, whether the previous version is restored, whether any
 * version ran before), followed by the server's output. Warnings of compose are `warning` lines, names of removed files
 * `removed` lines.
 */
export const activateCommand = (
  {
    composeFile,
    composeKind,
    composeVersion,
    containerdStore,
    envFiles,
    expected,
    images,
    release,
    remotePath,
    run,
    source,
    stagedFiles
  }: Activation,
  sudo: boolean
): RemoteCommand => {
  const names = [...new Set([...images, ...source.names.map(({ name }) => name)])]
    .filter((name) => isImageName(name) && !name.startsWith("sha256:"))
  return {
    what: "starting the stack",
    script,
    args: [
      remotePath,
      composeKind,
      composeVersion,
      composeFile,
      containerdStore ? "containerd" : "docker",
      source.from,
      source.archive,
      source.format,
      source.expected,
      run,
      source.platform,
      String(stagedFiles),
      String(names.length),
      ...names,
      ...[envFiles.gone, envFiles.brought].flatMap((files) => [String(files.length), ...files]),
      ...source.names.map(({ id }) => id),
      ...source.names.map(({ name }) => name)
    ],
    stdin: [
      ...expected === undefined ? [release] : [[...release, "check\tyes"], expected],
      [...expected === undefined ? [] : [checkScript], stagesScript]
    ].map(buildManifestInput).join(""),
    sudo
  }
}
