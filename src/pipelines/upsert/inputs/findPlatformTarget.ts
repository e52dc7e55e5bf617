import { Effect, Either, Option } from "effect"
import { TargetUnusable } from "../../../schema/applications/Upsert.ts"
import { Platform } from "../../../services/platform/Platform.ts"
import { Settings } from "../../../services/settings/Settings.ts"
import type { AppPlan } from "../../applications/appPlan.ts"
import { requirePort } from "./readPlan.ts"
import { findPlatformServer } from "./target.ts"

/** Upsert step 2: finds the application's server. Fails early if a route would lack its port or address. */
export const findPlatformTarget = Effect.fn("findPlatformTarget")(function*(
  plan: AppPlan
) {
  const platform = yield* Platform
  const settings = yield* Settings
  if (Option.isNone(plan.server)) {
    const serverUuid = yield* settings.get("platform.defaultServerUuid")
    const ip = Option.isSome(plan.domain)
      ? Option.some(yield* settings.get("proxy.targetIp"))
      : yield* settings.find("proxy.targetIp")
    return { serverUuid, local: false, ip }
  }
  const aliases = yield* settings.get("platform.localAliases")
  const localIp = yield* settings.get("gitHost.sshHost")
  const target = yield* Either.mapLeft(
    findPlatformServer(yield* platform.servers, plan.server.value, aliases, localIp),
    (reason) => new TargetUnusable({ reason })
  )
  if (target.local || Option.isNone(plan.domain)) return target
  yield* requirePort(plan)
  if (Option.isNone(target.ip)) {
    const reason = `The platform gives no ip for its server ${JSON.stringify(plan.server.value)}: ` +
      `${plan.domain.value} cannot be routed there`
    return yield* new TargetUnusable({ reason })
  }
  return target
})
