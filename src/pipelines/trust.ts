import { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import { PullRefused } from "../schema/compare.ts"
import type { Finding } from "../schema/overview.ts"
import { maxRuns, type RunStoreUnavailable } from "../schema/runs.ts"
import {
  describeUntrusted,
  ProgramsMoved,
  type ProgramsRequest,
  type ProjectBeingWritten,
  type ProjectPrograms,
  TrustForbidden,
  type TrustRequest
} from "../schema/trust.ts"
import { CurrentCaller } from "../services/access/Caller.ts"
import { type LocalFileFailed, LocalFiles } from "../services/local/LocalFiles.ts"
import type { FileLocked } from "../services/locks/Locks.ts"
import { formatTrustedName, type KeepTrust, ProjectTrust } from "../services/ProjectTrust.ts"
import { Runs } from "../services/runs/Runs.ts"
import { keyedDigest, Settings } from "../services/settings/Settings.ts"
import { isOutside, resolveReal } from "./projects/paths.ts"
import { findInProjects, nameFew } from "./projects/projects.ts"
import {
  type DirectoryRefused,
  type FoundProgram,
  listPrograms,
  locateProjectDirectory,
  showPrograms
} from "./projects/trust.ts"

/** Keyed: a file that a command names may have a content that can be guessed. */
const digestOf = (programs: ReadonlyArray<FoundProgram>) =>
  Effect.map(
    keyedDigest,
    (digest) => digest(JSON.stringify(programs.map(({ kind, name, sha256 }) => [kind, name, sha256])))
  )

const answerWith = (projectPath: string, programs: ReadonlyArray<FoundProgram>) =>
  Effect.zipWith(showPrograms(programs), digestOf(programs), (shown, digest): ProjectPrograms => ({
    projectPath,
    digest,
    trusted: shown.every(({ state }) => state === "trusted"),
    programs: shown
  }))

/** Shows what of a project runs on this machine or leads out of the project. Changes nothing. */
export const readPrograms = Effect.fn("trust.read")(function*(
  { projectPath }: ProgramsRequest
): Effect.fn.Return<ProjectPrograms, DirectoryRefused | LocalFileFailed, LocalFiles | Path.Path | Settings> {
  const directory = yield* locateProjectDirectory(projectPath)
  return yield* answerWith(directory, yield* listPrograms(directory))
})

/** Trusts the programs of a project as they were shown. Only for the user of this machine. */
export const trustPrograms = Effect.fn("trust.record")(function*(
  { digest, projectPath }: TrustRequest
): Effect.fn.Return<
  ProjectPrograms,
  DirectoryRefused | FileLocked | LocalFileFailed | ProgramsMoved | ProjectBeingWritten | TrustForbidden,
  LocalFiles | Path.Path | Settings
> {
  const directory = yield* locateProjectDirectory(projectPath)
  const { isLocal } = yield* CurrentCaller
  if (isLocal !== true) return yield* new TrustForbidden({ path: directory })
  const programs = yield* listPrograms(directory)
  if ((yield* digestOf(programs)) !== digest) return yield* new ProgramsMoved({ path: directory })
  const trusted = programs.map(({ kind, name, sha256 }) => [formatTrustedName(kind, name), sha256])
  yield* (yield* ProjectTrust).record(
    yield* (yield* LocalFiles).realPath(directory),
    Object.fromEntries(trusted)
  )
  return yield* answerWith(directory, programs.map((program) => ({ ...program, state: "trusted" })))
})

/**
 * Lists the projects whose programs callers with a token cannot use; no finding if no token is in the settings. It is no
 * failure: the user of this machine may want that.
 */
export const checkTrust = Effect.gen(function*() {
  const { tokens, token } = yield* (yield* Settings).guard
  if (Option.isNone(token) && tokens.length === 0) return []
  const untrusted = yield* findInProjects((path) =>
    Effect.map(
      Effect.orElseSucceed(listPrograms(path), () => []),
      (programs) => programs.some(({ state }) => state !== "trusted") ? describeUntrusted(programs) : undefined
    )
  )
  const finding: Finding = {
    name: "trusted programs",
    ok: true,
    detail: untrusted.length === 0
      ? "callers with a token may use the programs of every project"
      : `callers with a token cannot use ${nameFew(untrusted)}. To let them: berth trust PROJECT`
  }
  return [finding]
})

/** True if the paths are equal, or one is below the other. */
const overlap = (path: Path.Path, one: string, other: string) =>
  !isOutside(path, one, other) || !isOutside(path, other, one)

/** Kinds of programs that read whatever they like as the user of this machine; Docker reads only what it is given. */
const readingKinds = ["script", "hook", "secret"] as const

const readsByItself = (programs: Readonly<Record<string, string>>) =>
  Object.keys(programs).some((name) => readingKinds.some((kind) => name.startsWith(`${kind} `)))

/**
 * Decides which trust outlives a write to these paths: not that in projects that are written into, nor in those whose
 * programs could read the paths beside the project or among the projects. Their texts do not tell: a script may call
 * `make`, whose file includes another one.
 */
const findKept = (localPaths: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    const root = yield* Effect.flatMap(
      Effect.option((yield* Settings).get("projects.root")),
      Effect.transposeMapOption((root) => resolveReal(path.resolve(root)))
    )
    const written = yield* Effect.forEach(localPaths, (file) => resolveReal(path.resolve(file)))
    const keep: KeepTrust = (project, programs) => {
      const homes = readsByItself(programs) ? [path.dirname(project), ...Option.toArray(root)] : []
      return !written.some((file) => overlap(path, project, file) || homes.some((home) => !isOutside(path, home, file)))
    }
    return keep
  })

/** Trust that is suspended while a caller with a token writes into projects. */
export interface SuspendedTrust {
  /** Ends the trust that another process may have recorded meanwhile. */
  readonly end: Effect.Effect<void, LocalFileFailed | FileLocked>
  /** Lets the user of this machine trust the projects again; idempotent. */
  readonly resume: Effect.Effect<void>
  /** Ends the trust once more, and resumes. */
  readonly finish: Effect.Effect<void>
}

const unsuspended: SuspendedTrust = { end: Effect.void, resume: Effect.void, finish: Effect.void }

/**
 * Ends the trust in projects whose programs may read what a caller with a token writes, since they read files that Berth
 * does not look at. Builds and deploys find no trust from here on, and none can be given, until it is resumed.
 */
export const suspendTrust = Effect.fn("trust.suspend")(function*(
  localPaths: ReadonlyArray<string>
): Effect.fn.Return<SuspendedTrust, LocalFileFailed | FileLocked, LocalFiles | Path.Path | Settings> {
  if ((yield* CurrentCaller).isLocal === true) return unsuspended
  const keep = yield* findKept(localPaths)
  const trust = yield* ProjectTrust
  const resume = yield* trust.suspend(keep)
  const end = trust.keepOnly(keep)
  yield* Effect.onError(end, () => resume)
  const finish = Effect.catchAll(
    end,
    ({ message }) => Effect.logError(`Trust in projects that were written into may have stayed: ${message}`)
  )
  return { end, resume, finish: Effect.zipRight(finish, resume) }
})

const programRuns = ["build", "deploy", "deploy-all"] as const

/** Fails while programs run that could read what a caller with a token is about to write. */
export const refuseRunning = Effect.fn("trust.refuseRunning")(function*(
  localPaths: ReadonlyArray<string>
): Effect.fn.Return<
  void,
  PullRefused | LocalFileFailed | RunStoreUnavailable,
  LocalFiles | Path.Path | Runs | Settings
> {
  if ((yield* CurrentCaller).isLocal === true) return
  const path = yield* Path.Path
  const { list } = yield* Runs
  const keep = yield* findKept(localPaths)
  for (const kind of programRuns) {
    for (const state of ["running", "queued"] as const) {
      for (const { subject: { projectPath } } of (yield* list({ kind, state, limit: maxRuns })).runs) {
        if (projectPath === undefined) continue
        const project = yield* resolveReal(projectPath)
        const programs = yield* listPrograms(project)
        const names = Object.fromEntries(
          programs.map(({ kind, name, sha256 }) => [formatTrustedName(kind, name), sha256])
        )
        if (programs.length === 0 || keep(project, names)) continue
        const read = yield* Effect.findFirst(
          localPaths,
          (file) => Effect.map(findKept([file]), (keep) => !keep(project, names))
        )
        return yield* new PullRefused({
          path: Option.getOrElse(read, () => project),
          reason: `${path.basename(project)} is being built or deployed, and its programs could read what is pulled: ` +
            "repeat this once it has ended"
        })
      }
    }
  }
})
