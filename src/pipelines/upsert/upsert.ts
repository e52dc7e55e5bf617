import type { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import type { AppRequest } from "../../schema/Drift.ts"
import type { PlanMoved } from "../../schema/PlatformPlan.ts"
import type { PathOutside } from "../../schema/Project.ts"
import type { RunFailure } from "../../schema/Run.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import { UpsertFailed, type UpsertRequest, UpsertResult } from "../../schema/Upsert.ts"
import type { GitHost } from "../../services/githost/GitHost.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import { applicationLock } from "../../services/locks/LockKey.ts"
import type { Locks } from "../../services/locks/Locks.ts"
import type { Platform } from "../../services/platform/Platform.ts"
import { Runs, type RunSpec } from "../../services/runs/Runs.ts"
import { Settings } from "../../services/settings/Settings.ts"
import type { Sftp } from "../../services/ssh/Sftp.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { entryNamed, readPlatformFile } from "../applications/platformFile.ts"
import { permitPath } from "../projects/permitPath.ts"
import { heldToPlan } from "./heldToPlan.ts"
import { upsertApp } from "./upsertApp.ts"

/** The name of the application that a request is about, as far as its project tells; what does not fit is told in the run. */
const nameOf = ({ appName, projectPath }: AppRequest) =>
  readPlatformFile(projectPath).pipe(
    Effect.map(Option.flatMap((apps) => entryNamed(apps, appName))),
    Effect.map(Option.map(({ entry }) => entry.name)),
    Effect.orElseSucceed(() => Option.none<string>())
  )

/** An upsert as a run: what it is, and the program that it executes. */
export const upsertRun = Effect.fn("upsertRun")(function*(request: UpsertRequest) {
  const settings = yield* Settings
  const name = yield* nameOf(request)
  const platformUrl = yield* Effect.orElseSucceed(settings.find("platform.url"), () => Option.none<string>())
  const key = applicationLock(
    Option.getOrElse(platformUrl, () => ""),
    Option.getOrElse(name, () => request.projectPath)
  )
  const named = Option.match(name, { onNone: () => ({}), onSome: (appName) => ({ appName }) })
  const spec: RunSpec<UpsertResult, typeof UpsertResult.Encoded> = {
    kind: "upsert",
    key,
    subject: { projectPath: request.projectPath, ...named },
    request: { ...request, ...named },
    result: UpsertResult,
    afterRestart: "resume"
  }
  const { planHash: _, ...wanted } = { ...request, ...named }
  return { spec, program: Effect.flatMap(heldToPlan({ ...request, ...named }), (held) => upsertApp(wanted, held)) }
})

/** Runs an upsert as a run of the service. Upserts of one application follow each other: the second sees what the first made. */
export const upsert = Effect.fn("upsert")(function*(
  request: UpsertRequest
): Effect.fn.Return<
  UpsertResult,
  PlanMoved | PathOutside | SettingsError | UpsertFailed | RunFailure,
  GitHost | LocalFiles | Locks | Path.Path | Platform | Runs | Settings | Sftp | Ssh
> {
  yield* permitPath(request.projectPath)
  const { program, spec } = yield* upsertRun(request)
  return yield* Effect.catchTag(
    (yield* Runs).run(spec, program),
    "FileLocked",
    ({ message }) => new UpsertFailed({ step: "config", reason: message })
  )
})
