import { Effect } from "effect"
import type { AppRequest } from "../../schema/applications/Drift.ts"
import { type Hop, NotVerifiable, type Verification } from "../../schema/applications/Verify.ts"
import { permitPath } from "../projects/files/permitPath.ts"
import { readPlan } from "../upsert/inputs/readPlan.ts"
import { walk } from "./hop.ts"
import { application, port } from "./hops.ts"
import { https } from "./httpsHop.ts"
import { route } from "./routeHop.ts"

/**
 * Follows the way of a request to a declared application: the platform says that it runs, its port takes connections,
 * the proxy file leads its domain there, and HTTPS on the domain answers. Every hop is walked, whatever the others say.
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
    walk("application", application(plan)),
    walk("port", port(plan)),
    walk("route", route(request.projectPath, plan)),
    walk("https", https(plan))
  ], { concurrency: "unbounded" })
  return { hops, failing: hops.find(({ ok }) => !ok)?.hop ?? null } satisfies Verification
})
