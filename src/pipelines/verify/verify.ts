import { Effect } from "effect"
import type { AppRequest } from "../../schema/applications/Drift.ts"
import { type Hop, NotVerifiable, type Verification } from "../../schema/applications/Verify.ts"
import { permitPath } from "../projects/files/permitPath.ts"
import { readPlan } from "../upsert/inputs/readPlan.ts"
import { runHop } from "./hop.ts"
import { checkApplication, checkApplicationPort } from "./hops.ts"
import { checkHttps } from "./httpsHop.ts"
import { checkRoute } from "./routeHop.ts"

/**
 * Follows the path of a request to a declared application: it runs on the platform, its port accepts connections, the
 * proxy file routes its domain there, and HTTPS on the domain responds. Every hop is checked, even after a failure.
 */
export const verify = Effect.fn("verify")(function*(request: AppRequest) {
  yield* permitPath(request.projectPath)
  const undeclared = ({ message }: { readonly message: string }) => new NotVerifiable({ reason: message })
  const plan = yield* Effect.catchTags(readPlan(request), {
    NoPlatformFile: undeclared,
    AppNotDeclared: undeclared,
    DomainWithoutPort: undeclared
  })
  const hops: ReadonlyArray<Hop> = yield* Effect.all([
    runHop("application", checkApplication(plan)),
    runHop("port", checkApplicationPort(plan)),
    runHop("route", checkRoute(request.projectPath, plan)),
    runHop("https", checkHttps(plan))
  ], { concurrency: "unbounded" })
  return { hops, failing: hops.find(({ ok }) => !ok)?.hop ?? null } satisfies Verification
})
