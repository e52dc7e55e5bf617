import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import type { ComposeKind } from "../deploy/preflightCommand.ts"
import { isImageName } from "../isImageName.ts"
import { script } from "./activate.sh.ts"
import { buildManifestInput } from "./releaseManifest.ts"

/** An image of the archive under one of its names; under its id where it has none. */
export interface ArchiveName {
  readonly id: string
  readonly name: string
}

/** Source of the image, and its expected content. */
export interface ImageSource {
  /**
   * Loaded from the uploaded archive (`file`), the script's input, which is all of the archive (`whole`), a
   * `part` of it, or a part under names of the run's own (`incoming`), or from nothing: the server has the
   * images and only their names are set (`names`), or that there is no archive (`none`).
   */
  readonly from: "file" | "whole" | "part" | "incoming" | "names" | "none"
  /** The archive's name below the remote path. */
  readonly archive: string
  /** The platform that `docker load` verifies; empty where it does not. */
  readonly platform: string
  readonly names: ReadonlyArray<ArchiveName>
  /**
   * Format that `docker image inspect` prints for each name afterwards, for incoming images by the run's own names, and the
   * sha256 of its answer.
   */
  readonly format: string
  readonly expected: string
}

/** Files for compose, by their names below the remote path: `.env` and what the compose file names as `env_file`. */
export interface EnvFileNames {
  /** Those that the project has; the next deploy finds them noted on the server. */
  readonly brought: ReadonlyArray<string>
  /** Those that an earlier deploy brought and that are removed; a failure puts them back. */
  readonly gone: ReadonlyArray<string>
}

export interface Activation {
  /** Run that it belongs to, by which a recovery finds its outcome. */
  readonly run: string
  readonly remotePath: string
  readonly composeKind: ComposeKind
  readonly composeVersion: string
  readonly composeFile: string
  /** True on the containerd image store, which drops an image with its last name. */
  readonly containerdStore: boolean
  readonly source: ImageSource
  /** Number of files uploaded or restaged for it; it is refused where not exactly as many are there. */
  readonly stagedFiles: number
  readonly envFiles: EnvFileNames
  /** The image names of the stack; a failure restores their present meaning, like that of the archive's names. */
  readonly images: ReadonlyArray<string>
  /** Lines of the release's manifest. */
  readonly release: ReadonlyArray<string>
}

/**
 * Loads the image, moves the uploaded files into place, starts the stack and looks at its containers. It prints a
 * `step` line when it comes to `load`, `start`, `health`, `release` and its `end`, and where it fails a `failed` line (step,
 * whether what ran before is back, and whether anything ran) that the server's words follow. What compose warns of when it
 * starts the stack are `warning` lines, and names of removed files `removed` lines.
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
