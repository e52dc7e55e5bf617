import { Path } from "@effect/platform"
import { Effect, Either, Option } from "effect"
import { type Adoption, type AdoptRequest, EntryExists, NotDeclarable } from "../../schema/applications/Adopt.ts"
import type { PlatformFailure, PlatformRecord } from "../../schema/applications/PlatformApp.ts"
import { platformFileName, type ProjectFileInvalid } from "../../schema/projects/Project.ts"
import { quoteInput } from "../../schema/words/quoted.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import { makeProjectFileLock } from "../../services/locks/LockKey.ts"
import { type FileLocked, Locks } from "../../services/locks/Locks.ts"
import { withElement } from "../../services/parsing/jsonList.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { findApplication } from "../applications/applications.ts"
import { buildGitUrl, planEntry } from "../applications/appPlan.ts"
import { computeDriftDiffs } from "../applications/computeDriftDiffs.ts"
import { maskEntries } from "../applications/maskEntries.ts"
import { makeUnplacedSource, readDeclaredEntry, readPlatformFile } from "../applications/platformFile.ts"
import { buildDeclaredValues } from "../drift/compareEntry.ts"
import { readOwnFile, refuseLink, writeOwnFile } from "../projects/files/ownFiles.ts"
import { type DirectoryRefused, resolveProjectDirectory } from "../projects/files/resolveProjectDirectory.ts"
import { buildLiveEntry } from "./buildLiveEntry.ts"
import { retainedFields } from "./retainedFields.ts"

/** Name of the application's server, if the platform reports one other than the default. */
const serverName = ({ server_uuid: uuid }: PlatformRecord) =>
  Effect.gen(function*() {
    const byDefault = yield* (yield* Settings).find("platform.defaultServerUuid")
    if (uuid === undefined || uuid === null || uuid === "" || Option.contains(byDefault, uuid)) return undefined
    return (yield* (yield* Platform).servers).find((server) => server.uuid === uuid)?.name
  })

const read = (uuid: string, directory: string) =>
  Effect.gen(function*() {
    const platform = yield* Platform
    const app = yield* platform.application(uuid)
    const refuse = (reason: string) => new NotDeclarable({ name: app.name, reason })
    const first = yield* findApplication(app.name)
    if (Option.exists(first, (other) => other.uuid !== uuid)) {
      return yield* refuse("another application of the platform has its name, and entries find theirs by name")
    }
    const envs = yield* Effect.option(platform.envs(uuid))
    const owner = Option.getOrElse(yield* (yield* Settings).find("gitHost.owner"), () => "")
    const example = yield* buildGitUrl({ owner: "", name: "" })
    const assumed = {
      owner,
      repository: (yield* Path.Path).basename(directory),
      gitHost: example.slice(0, -"/.git".length)
    }
    const live = yield* Either.mapLeft(buildLiveEntry(app, envs, yield* serverName(app), assumed), refuse)
    return { app, envs, live, refuse }
  })

/** Unchanged text of the file, including a byte order mark; empty if there is no file. */
const textOf = (directory: string) =>
  Effect.map(
    readOwnFile(directory, platformFileName),
    Option.match({
      onNone: () => "",
      onSome: (bytes) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)
    })
  )

/**
 * Writes the entry of `platform.json` that declares a live application without drift. Other entries keep their bytes,
 * and the platform is not changed. Hidden values are reported, not written.
 */
export const adopt = Effect.fn("adopt")(function*(
  { projectPath, replace, uuid }: AdoptRequest
): Effect.fn.Return<
  Adoption,
  DirectoryRefused | EntryExists | FileLocked | NotDeclarable | PlatformFailure | ProjectFileInvalid,
  LocalFiles | Locks | Path.Path | Platform | Settings
> {
  const platform = yield* Platform
  const locks = yield* Locks
  const directory = yield* resolveProjectDirectory(projectPath)
  const file = (yield* Path.Path).join(directory, platformFileName)
  yield* refuseLink(directory, platformFileName)
  const { app, envs, live, refuse } = yield* read(uuid, directory)

  return yield* Effect.gen(function*() {
    const declared = Option.getOrElse(yield* readPlatformFile(directory), () => [])
    const index = declared.findIndex(({ entry }) => entry.name === app.name)
    const earlier = declared[index]
    if (earlier !== undefined && replace !== true) return yield* new EntryExists({ file, name: app.name })
    const entry = { ...live.entry, ...(earlier === undefined ? {} : retainedFields(earlier.raw, live)) }

    const plan = yield* planEntry(
      directory,
      yield* readDeclaredEntry(makeUnplacedSource(file))(entry, Math.max(index, 0))
    )
    const { diffs } = computeDriftDiffs(plan, yield* platform.declared(app, buildDeclaredValues(plan)), envs)
    if (diffs.length > 0) {
      const fields = diffs.map(({ label, remote }) => `${label} is ${quoteInput(String(remote))}`).join(", ")
      return yield* refuse(`no entry says what it is: ${fields}`)
    }

    const text = yield* textOf(directory)
    const mark = text.startsWith("\uFEFF") ? "\uFEFF" : ""
    const edited = withElement(text.slice(mark.length), entry, earlier === undefined ? undefined : index)
    yield* writeOwnFile(directory, platformFileName, `${mark}${edited}`)
    const [shown] = yield* maskEntries([entry])
    return {
      action: earlier === undefined ? "added" as const : "replaced" as const,
      uuid,
      entry: shown ?? entry,
      unknown: live.unknown,
      warnings: live.warnings
    }
  }).pipe(locks.withLock(makeProjectFileLock(file)))
})
