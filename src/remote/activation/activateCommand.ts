import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import type { ComposeKind } from "../deploy/preflightCommand.ts"
import { isImageName } from "../isImageName.ts"
import { script } from "./activate.sh.ts"
import { buildManifestInput } from "./releaseManifest.ts"

/** An image of the archive with one of its names, or with its id if it has none. */
export interface ArchiveName {
  readonly id: string
  readonly name: string
}

/** Source of the image, and its expected content. */
export interface ImageSource {
  /**
   * Loaded from the uploaded archive (`file`) or from the script's input: the whole archive (`whole`), a `part` of it,
   * or a part under temporary names of the run (`incoming`). Without a load, only names are set for images that the
   * server has (`names`), or there is no archive (`none`).
   */
  readonly from: "file" | "whole" | "part" | "incoming" | "names" | "none"
  /** Name of the archive, relative to the remote path. */
  readonly archive: string
  /** Platform that `docker load` verifies; empty if it does not. */
  readonly platform: string
  readonly names: ReadonlyArray<ArchiveName>
  /**
   * Format for `docker image inspect` on each name after the load, using the temporary names of incoming images;
   * `expected` is the sha256 of its output.
   */
  readonly format: string
  readonly expected: string
}

/** Names of files for compose, relative to the remote path: `.env` and the `env_file`s of the compose file. */
export interface EnvFileNames {
  /** Files of the project, recorded on the server for the next deploy. */
  readonly brought: ReadonlyArray<string>
  /** Files of an earlier deploy to remove; a failure restores them. */
  readonly gone: ReadonlyArray<string>
}

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
    stdin: buildManifestInput(release),
    sudo
  }
}
