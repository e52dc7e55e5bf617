import { Clock, Effect } from "effect"
import { sameJson, scrubbedJson } from "../../secrets/scrubbedJson.ts"
import { secretsInUse } from "../../secrets/secretsInUse.ts"
import type { Settings } from "../../settings/Settings.ts"
import { RunRequest } from "../RunRequest.ts"
import type { RunSpec } from "../Runs.ts"
import type { StoredRun } from "../StoredRun.ts"
import { runWorkflow } from "../workflow/runWorkflow.ts"

/** Makes the queued run of the current request. */
export const newRun = <A, I>(spec: RunSpec<A, I>, id: string): Effect.Effect<StoredRun, never, Settings> =>
  Effect.gen(function*() {
    const { idempotency, parent, requestedBy } = yield* RunRequest
    const requestedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
    // A request that contains a secret is not stored: no other process can resume such a run.
    const request = sameJson(spec.request, scrubbedJson(spec.request, yield* secretsInUse)) ? spec.request : null
    return {
      run: {
        id,
        kind: spec.kind,
        subject: spec.subject,
        state: "queued",
        requestedBy,
        ...parent === undefined ? {} : { parent },
        requestedAt,
        startedAt: null,
        endedAt: null,
        steps: [],
        result: null,
        error: null
      },
      request,
      workflow: runWorkflow(spec.kind).name,
      queue: spec.key.name,
      idempotency,
      attempt: 1
    }
  })
