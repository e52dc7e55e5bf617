import { Effect, Option } from "effect"
import {
  contentsCommand,
  inventoryCommand,
  parseContents,
  parseInventory,
  type RemoteFile
} from "../../remote/compare.ts"
import type { ChangedFile } from "../../schema/deploys.ts"
import type { RemoteCommandFailed, ServerAccess, SshError } from "../../schema/ssh.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import { execute, makeCommandFailed, type Ssh } from "../../services/ssh/Ssh.ts"
import { isSecretName } from "../projects/files.ts"
import { isHashedOnly, listReadableTexts, showDifference, toWholeText } from "../textDiffs.ts"

/** A directory of a server whose files are compared. */
export interface Side {
  /** Its name in the header of a diff. */
  readonly label: string
  readonly directory: string
}

/** Directory in which a server keeps the files of a release. */
export const formatReleaseDirectory = (remotePath: string, release: string): Side => ({
  label: release,
  directory: `${remotePath}/.berth/releases/${release}/files`
})

type Inventory = ReadonlyMap<string, RemoteFile>

/** Sizes and hashes of the given files of a directory; missing files are left out. */
export const readRemoteInventory = Effect.fn("releases.inventory")(function*(
  server: ServerAccess,
  { directory }: Side,
  names: ReadonlyArray<string>
): Effect.fn.Return<Inventory, RemoteCommandFailed | SshError, Ssh> {
  if (names.length === 0) return new Map()
  const command = inventoryCommand(directory, names, false)
  // Hashing large files takes a while.
  const { stdout } = yield* execute(server, command, { timeout: "10 minutes" })
  return yield* Effect.mapError(
    parseInventory(stdout),
    () => makeCommandFailed(server, command, 0, `"${server.name}" did not answer with a list of files`)
  )
})

/** Compares files by hash; an unknown hash counts as changed. */
export const compareFileHashes = (
  from: RemoteFile | undefined,
  to: RemoteFile | undefined
): ChangedFile["change"] => {
  if (from === undefined) return "new"
  if (to === undefined) return "removed"
  return from.sha256 !== undefined && from.sha256 === to.sha256 ? "same" : "changed"
}

/** Beginnings of the texts of these files of a directory. */
export const readTexts = (server: ServerAccess, { directory }: Side, names: ReadonlyArray<string>) =>
  names.length === 0
    ? Effect.succeed<ReadonlyMap<string, string>>(new Map())
    : Effect.map(execute(server, contentsCommand(directory, names, false)), ({ stdout }) => parseContents(stdout))

/** Text of a file; empty if the file is missing, none if it is not text. */
const textIn = (inventory: Inventory, texts: ReadonlyMap<string, string>, name: string) => {
  const file = inventory.get(name)
  return file === undefined
    ? Option.some("")
    : Option.flatMap(Option.fromNullable(texts.get(name)), (text) => toWholeText(text, file.size))
}

/**
 * Adds the differences in each changed file, as far as the caller of the current request may see them.
 * @param envFiles names of the files whose values are never shown
 * @param privateFiles names of the files whose texts are never shown
 */
export const withDifferences = Effect.fn("releases.withDifferences")(function*(
  server: ServerAccess,
  [from, to]: readonly [from: Side, to: Side],
  [before, after]: readonly [from: Inventory, to: Inventory],
  files: ReadonlyArray<Pick<ChangedFile, "change" | "name">>,
  envFiles: ReadonlyArray<string>,
  privateFiles: ReadonlyArray<string>
): Effect.fn.Return<ReadonlyArray<ChangedFile>, RemoteCommandFailed | SshError, Settings | Ssh> {
  const secrets = new Set(envFiles)
  const isSecret = (name: string) => secrets.has(name) || isSecretName(name)
  const sizeOf = (name: string) => Math.max(before.get(name)?.size ?? 0, after.get(name)?.size ?? 0)
  const wanted = listReadableTexts(
    files.filter(({ change, name }) =>
      change !== "same" && !isHashedOnly(name, isSecret) && !privateFiles.includes(name)
    )
      .map(({ name }) => ({ name, size: sizeOf(name) }))
  )
  const shown = new Set(wanted)
  const [old, now] = yield* Effect.all([
    readTexts(server, from, wanted.filter((name) => before.has(name))),
    readTexts(server, to, wanted.filter((name) => after.has(name)))
  ], { concurrency: 2 })
  return yield* Effect.forEach(files, ({ change, name }) =>
    Effect.gen(function*() {
      const texts = shown.has(name)
        ? Option.all([textIn(before, old, name), textIn(after, now, name)])
        : Option.none()
      if (Option.isNone(texts)) return { name, change }
      const { diff, keys } = yield* showDifference(name, ...texts.value, isSecret(name), [from.label, to.label])
      return {
        name,
        change,
        ...diff === undefined ? {} : { diff },
        ...keys === undefined
          ? {}
          : { variables: { added: keys.localOnly, changed: keys.different, removed: keys.remoteOnly } }
      }
    }))
})
