import { Effect } from "effect"
import type { Scope } from "effect"
import type { ServerAccess } from "../../schema/Server.ts"
import type { RemoteCommandFailed, SshError } from "../../schema/Ssh.ts"
import { sha256Of } from "../../services/bytes/sha256.ts"
import { Steps } from "../../services/runs/Steps.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import type { ImageSource } from "../remote/activate.ts"
import type { ServerFacts } from "../remote/deployPreflight.ts"
import { execute } from "../remote/execute.ts"
import type { RemoteRelease } from "../remote/releases.ts"
import { restageCommand } from "../remote/restage.ts"
import { activate, type RunningActivation } from "./activation.ts"
import { envFileNames } from "./envFileNames.ts"

/** The images of a release are there, and only have to get their names back. */
const sourceOf = ({ images }: Pick<RemoteRelease, "images">): ImageSource => ({
  from: images.length === 0 ? "none" : "names",
  archive: "",
  names: images,
  format: "{{.Id}}",
  expected: sha256Of(images.map(({ id }) => `${id}\n`).join(""))
})

/** The names of all files of a release, below the remote path. */
export const filesOf = (
  { manifest: { composeFile, envFiles, files, largeFiles } }: Pick<RemoteRelease, "manifest">
): ReadonlyArray<string> => [composeFile, ...envFiles, ...files, ...largeFiles]

/** Has the server take the files of a release from where it keeps them; nothing that runs is changed by that. */
export const restage = Effect.fn("deploy.restage")(function*(
  server: ServerAccess,
  remotePath: string,
  { id }: Pick<RemoteRelease, "id">
): Effect.fn.Return<void, RemoteCommandFailed | SshError, Ssh> {
  yield* execute(server, restageCommand(remotePath, id), { timeout: "10 minutes" })
})

/**
 * Starts a release that the server keeps, whose files are restaged, in the place of what runs there.
 * @param note what the server is told of the release that it keeps of this, line by line
 */
export const reactivate = Effect.fn("deploy.reactivate")(function*(
  server: ServerAccess,
  remotePath: string,
  release: RemoteRelease,
  facts: Pick<ServerFacts, "composeKind" | "composeVersion" | "containerdStore" | "deployed">,
  note: ReadonlyArray<string>
): Effect.fn.Return<
  RunningActivation,
  SshError,
  Ssh | Scope.Scope | Settings | Steps
> {
  const { manifest } = release
  return yield* activate(server, {
    run: (yield* Steps).run,
    remotePath,
    composeKind: facts.composeKind === "none" ? "v2" : facts.composeKind,
    composeVersion: facts.composeVersion,
    composeFile: manifest.composeFile,
    containerdStore: facts.containerdStore,
    source: sourceOf(release),
    envFiles: envFileNames({
      envFiles: manifest.envFiles,
      files: filesOf(release).map((name) => ({ name }))
    }, facts),
    images: release.images.map(({ name }) => name),
    release: note
  })
})
