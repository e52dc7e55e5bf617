import { Effect } from "effect"
import type { ImageSource } from "../../remote/activation/activateCommand.ts"
import type { RemoteRelease } from "../../remote/activation/releasesCommand.ts"
import { parseRestaged, restageCommand } from "../../remote/activation/restageCommand.ts"
import { execute } from "../../remote/execute.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import type { RemoteCommandFailed, SshError } from "../../schema/servers/Ssh.ts"
import { computeSha256 } from "../../services/bytes/sha256.ts"
import { Steps } from "../../services/runs/Steps.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { listEnvFileNames } from "../projects/listEnvFileNames.ts"
import { activate, type ActivationFacts } from "./activate.ts"

/** The server still has the images of a release; only their names have to be restored. */
const sourceOf = ({ images }: Pick<RemoteRelease, "images">): ImageSource => ({
  from: images.length === 0 ? "none" : "names",
  archive: "",
  platform: "",
  names: images,
  format: "{{.Id}}",
  expected: computeSha256(images.map(({ id }) => `${id}\n`).join(""))
})

/** Names of all files of a release, relative to the remote path. */
export const listReleaseFiles = (
  { manifest: { composeFile, envFiles, files, largeFiles } }: Pick<RemoteRelease, "manifest">
): ReadonlyArray<string> => [composeFile, ...envFiles, ...files, ...largeFiles]

/**
 * Stages the files of a release from the server's own copies; what runs is not changed.
 * @returns the number of files that differ from those in use
 */
export const restage = Effect.fn("deploy.restage")(function*(
  server: ServerAccess,
  remotePath: string,
  { id }: Pick<RemoteRelease, "id">
): Effect.fn.Return<number, RemoteCommandFailed | SshError, Ssh> {
  const { stdout } = yield* execute(server, restageCommand(remotePath, id), { timeout: "10 minutes" })
  return parseRestaged(stdout)
})

/**
 * Starts a kept release, whose files are restaged, in place of the one that runs.
 * @param stagedFiles number of the restaged files
 * @param note lines of the release's manifest
 */
export const reactivate = Effect.fn("deploy.reactivate")(function*(
  server: ServerAccess,
  remotePath: string,
  release: RemoteRelease,
  stagedFiles: number,
  facts: ActivationFacts,
  note: ReadonlyArray<string>
) {
  const { manifest } = release
  return yield* activate(server, facts, {
    run: (yield* Steps).run,
    remotePath,
    composeFile: manifest.composeFile,
    source: sourceOf(release),
    stagedFiles,
    envFiles: listEnvFileNames({
      envFiles: manifest.envFiles,
      files: listReleaseFiles(release).map((name) => ({ name }))
    }, facts),
    images: release.images.map(({ name }) => name),
    release: note
  })
})
