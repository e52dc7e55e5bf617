import type { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import type { AppRequest } from "../../schema/applications/Drift.ts"
import type { PlanMoved } from "../../schema/applications/PlatformPlan.ts"
import { UpsertFailed, type UpsertRequest, UpsertResult } from "../../schema/applications/Upsert.ts"
import type { PathOutside } from "../../schema/projects/Project.ts"
import type { RunFailure } from "../../schema/runs/runFailures.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import type { GitHost } from "../../services/githost/GitHost.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import { makeApplicationLock } from "../../services/locks/LockKey.ts"
import type { Locks } from "../../services/locks/Locks.ts"
import type { Platform } from "../../services/platform/Platform.ts"
import { Runs, type RunSpec } from "../../services/runs/Runs.ts"
import { Settings } from "../../services/settings/Settings.ts"
import type { Sftp } from "../../services/ssh/Sftp.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { findEntry, readPlatformFile } from "../applications/platformFile.ts"
import { permitPath } from "../projects/files/permitPath.ts"
import { bindToPlan } from "./bindToPlan.ts"
import { upsertApp } from "./upsertApp.ts"

/** Name of the requested application; none if its project cannot be read, in which case the run reports the reason. */
const nameOf = ({ appName, projectPath }: AppRequest) =>
  readPlatformFile(projectPath).pipe(
    Effect.map(Option.flatMap((apps) => findEntry(apps, appName))),
    Effect.map(Option.map(({ entry }) => entry.name)),
    Effect.orElseSucceed(() => Option.none<string>())
  )

/** Specification and program of an upsert's run. */
export const upsertRun = Effect.fn("upsertRun")(function*(request: UpsertRequest) {
  const settings = yield* Settings
  const name = yield* nameOf(request)
  const platformUrl = yield* Effect.orElseSucceed(settings.find("platform.url"), () => Option.none<string>())
  const key = makeApplicationLock(
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
  return {
    spec,
    program: Effect.flatMap(bindToPlan({ ...request, ...named }), (binding) => upsertApp(wanted, binding))
  }
})

/**
 * Runs an upsert as a run of the service. Upserts of one application are serialized: the second one sees the changes of
 * the first.
 */
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
