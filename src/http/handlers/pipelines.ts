import { HttpApiBuilder } from "@effect/platform"
import { Effect, Option } from "effect"
import { readPlatformFile } from "../../pipelines/applications/platformFile.ts"
import { drift } from "../../pipelines/drift/drift.ts"
import { upsert } from "../../pipelines/upsert/upsert.ts"
import { orApiError } from "../api/ApiError.ts"
import { BerthApi } from "../api/BerthApi.ts"

const noFile = (path: string) => ({
  error: `No platform.json found in ${JSON.stringify(path)}: path is the absolute path of the project's directory`
})

export const PipelinesHandlers = HttpApiBuilder.group(BerthApi, "pipelines", (handlers) =>
  handlers
    .handle("drift", ({ payload }) => orApiError(drift(payload)))
    .handle("upsert", ({ payload }) => orApiError(upsert(payload)))
    .handle("platformConfig", ({ urlParams: { path } }) =>
      orApiError(
        Effect.map(
          readPlatformFile(path),
          Option.match({ onNone: () => noFile(path), onSome: (apps) => apps.map(({ raw }) => raw) })
        )
      )))
