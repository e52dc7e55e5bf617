import type { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import type { Finding } from "../schema/overview.ts"
import {
  describeUntrusted,
  ProgramsMoved,
  type ProgramsRequest,
  type ProjectPrograms,
  TrustForbidden,
  type TrustRequest
} from "../schema/trust.ts"
import { CurrentCaller } from "../services/access/Caller.ts"
import { keyedDigest } from "../services/keyedDigest.ts"
import { type LocalFileFailed, LocalFiles } from "../services/local/LocalFiles.ts"
import type { FileLocked } from "../services/locks/Locks.ts"
import { formatTrustedName, ProjectTrust } from "../services/ProjectTrust.ts"
import { Settings } from "../services/settings/Settings.ts"
import {
  type DirectoryRefused,
  type FoundProgram,
  listPrograms,
  locateProjectDirectory,
  showPrograms
} from "./projects/programs.ts"
import { findInProjects, nameFew } from "./projects/projects.ts"

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
  DirectoryRefused | FileLocked | LocalFileFailed | ProgramsMoved | TrustForbidden,
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
