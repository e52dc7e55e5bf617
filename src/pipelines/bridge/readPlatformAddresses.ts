import type { Path } from "@effect/platform"
import { Array, Effect, Either, Option } from "effect"
import { quoteInput } from "../../schema/words.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { readPlatformFile } from "../applications/platformFile.ts"
import { findPlatformServer } from "../upsert/step.ts"

// Longest wait of a deploy for an unreachable platform.
const timeout = "3 seconds"

/** Platform's addresses for the servers of a project's applications, or the reason why they are unknown. */
export interface PlatformAddresses {
  readonly addresses: ReadonlyArray<string>
  /** Empty if they are known, or if the project declares no server of the platform. */
  readonly problem: string
}

const none: PlatformAddresses = { addresses: [], problem: "" }

/**
 * Asks the platform for the addresses of the servers that a project's `platform.json` names. Makes no request without
 * such a name, or without a platform in the settings.
 */
export const readPlatformAddresses = (
  directory: string
): Effect.Effect<PlatformAddresses, never, LocalFiles | Path.Path | Platform | Settings> =>
  Effect.gen(function*() {
    const settings = yield* Settings
    if (Option.isNone(yield* settings.find("platform.url"))) return none
    const apps = Option.getOrElse(yield* readPlatformFile(directory), () => [])
    const names = Array.dedupe(apps.flatMap(({ entry }) => entry.server ?? []))
    if (names.length === 0) return none
    const problem = (reason: string) =>
      `the address of the platform's server ${names.map((name) => quoteInput(name)).join(", ")} is not known: ${reason}`
    return yield* Effect.gen(function*() {
      const servers = yield* (yield* Platform).servers
      const aliases = yield* settings.get("platform.localAliases")
      const targets = names.map((name) => findPlatformServer(servers, name, aliases, ""))
      const reasons = targets.flatMap((target) => Either.isLeft(target) ? [target.left] : [])
      // The platform's own host serves its domains itself, and no route of the proxy file leads there.
      const addresses = Array.getRights(targets).flatMap(({ ip, local }) => local ? [] : Option.toArray(ip))
      return { addresses, problem: reasons.length === 0 ? "" : problem(reasons.join("; ")) }
    }).pipe(
      Effect.timeoutFail({ duration: timeout, onTimeout: () => new Error(`it did not answer within ${timeout}`) }),
      Effect.catchAll(({ message }) => Effect.succeed({ addresses: [], problem: problem(message.replace(/\.$/, "")) }))
    )
  }).pipe(
    // An unreadable file is reported by the upsert of the application.
    Effect.orElseSucceed(() => none),
    Effect.withSpan("bridge.platformAddresses")
  )
