import type { Path } from "@effect/platform"
import { Array, Effect, Either, Option } from "effect"
import { quoteInput } from "../../schema/words/quoted.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { readPlatformFile } from "../applications/platformFile.ts"
import { findPlatformServer } from "../upsert/inputs/target.ts"

// A deploy does not wait longer for a platform that is away.
const timeout = "3 seconds"

/** Addresses that the platform has for the servers of a project's applications, or why they are not known. */
export interface PlatformAddresses {
  readonly addresses: ReadonlyArray<string>
  /** Empty where they are known, and where the project declares no server of the platform. */
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
    // A file that cannot be read is named where the application is upserted.
    Effect.orElseSucceed(() => none),
    Effect.withSpan("bridge.platformAddresses")
  )
