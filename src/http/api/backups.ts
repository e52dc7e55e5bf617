import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import {
  BackupRequest,
  BackupResult,
  Backups,
  BackupVerified,
  RestorePlan,
  RestorePlanRequest,
  RestoreRequest,
  RestoreResult,
  VerifyRequest
} from "../../schema/backups.ts"
import * as failures from "./annotations.ts"
import { annotateFailures, forOperators, forViewers, startsRun } from "./annotations.ts"
import { ReleasesQuery, ServerIdPath } from "./servers.ts"

const unknownBackup: failures.Reason = [404, "There is no such backup, or it has no such item."]

/** Backups of stacks, on their servers. */
export class BackupsApi extends HttpApiGroup.make("backups", { topLevel: true })
  .add(
    HttpApiEndpoint.get("listBackups", "/api/servers/:id/backups").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.server))
      .setPath(ServerIdPath)
      .setUrlParams(ReleasesQuery)
      .addSuccess(Backups)
      .annotate(OpenApi.Summary, "List backups")
      .annotate(
        OpenApi.Description,
        "Lists the whole backups of the stack in remotePath, with the release that ran and the places of copies, also those " +
          "that the server has lost. A directory without any has an empty list."
      )
  )
  .add(
    HttpApiEndpoint.post("backup", "/api/container/backup").annotateContext(forOperators)
      .annotateContext(
        annotateFailures(failures.body, failures.server, failures.run, unknownBackup, [
          422,
          "The current release names nothing to back up."
        ], [
          502,
          "The backup failed: none was kept, and what was stopped for it runs again. Or it is kept, and a copy of it failed."
        ])
      )
      .annotateContext(startsRun)
      .setPayload(BackupRequest)
      .addSuccess(BackupResult)
      .annotate(OpenApi.Summary, "Back a stack up")
      .annotate(
        OpenApi.Description,
        "Keeps what `backups` of the current release names, in .berth/backups of the stack's directory, and copies it to the " +
          "places that the project names. Services that are stopped meanwhile are started again by the server itself."
      )
  )
  .add(
    HttpApiEndpoint.post("verifyBackup", "/api/container/backup/verify").annotateContext(forOperators)
      .annotateContext(annotateFailures(failures.body, failures.server, unknownBackup))
      .setPayload(VerifyRequest)
      .addSuccess(BackupVerified)
      .annotate(OpenApi.Summary, "Verify a backup")
      .annotate(OpenApi.Description, "Reads a backup on its server and compares every byte with its hash.")
  )
  .add(
    HttpApiEndpoint.post("planRestore", "/api/container/restore/plan").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.body, failures.server, unknownBackup))
      .setPayload(RestorePlanRequest)
      .addSuccess(RestorePlan)
      .annotate(OpenApi.Summary, "Plan a restore")
      .annotate(
        OpenApi.Description,
        "Tells what a restore would put back and stop, and what would be lost. Changes nothing anywhere. Sent with a restore, " +
          "the planHash holds it to that."
      )
  )
  .add(
    HttpApiEndpoint.post("restore", "/api/container/restore").annotateContext(forOperators)
      .annotateContext(
        annotateFailures(failures.body, failures.server, failures.run, unknownBackup, failures.planMoved, [
          502,
          "The restore failed: nothing was changed, or what it had replaced is back."
        ])
      )
      .annotateContext(startsRun)
      .setPayload(RestoreRequest)
      .addSuccess(RestoreResult)
      .annotate(OpenApi.Summary, "Restore a backup")
      .annotate(
        OpenApi.Description,
        "Puts the data of a backup back; one that the server has lost is brought back from a copy first. Every byte is verified before anything is stopped, and what is replaced is kept as " +
          "a backup first; a restore that fails leads back to it."
      )
  )
  .annotate(OpenApi.Title, "Backups")
  .annotate(OpenApi.Description, "Data of stacks, kept on their servers and put back.")
{}
