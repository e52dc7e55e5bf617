import { Effect, Option } from "effect"
import type { PlatformRecord } from "../../schema/applications/PlatformApp.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import type { Repository } from "../../schema/webhooks/GitHook.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import { parseRepositoryName } from "./repositoryName.ts"
import { resolveRepository } from "./resolveRepository.ts"

// `git@host:port/owner/name`, `scheme://user@host:port/owner/name`, or `owner/name`.
const host = /^(?:[a-z][a-z0-9+.-]*:\/\/[^/]*\/|[^/:]*:(?:\d+\/)?)/i

/** Owner in a repository's address; none if the address is only a name. */
export const parseRepositoryOwner = (address: string): Option.Option<string> =>
  Option.filter(
    Option.fromNullable(address.trim().replace(host, "").split("/").filter((part) => part !== "").at(-2)),
    (owner) => owner !== ".."
  )

/** Repository in an application's record, under the configured owner if its address has none. */
export const readRecordedRepository = (
  record: PlatformRecord
): Effect.Effect<Option.Option<Repository>, SettingsError, Settings> =>
  Effect.transposeMapOption(
    parseRepositoryName(record),
    (name) =>
      Option.match(parseRepositoryOwner(record.git_repository ?? ""), {
        onNone: () => resolveRepository(name),
        onSome: (owner) => Effect.succeed({ owner, name })
      })
  )

/** True for two names of the same repository; git hosts ignore case. */
export const isSameRepository = (one: Repository, other: Repository): boolean =>
  one.owner.toLowerCase() === other.owner.toLowerCase() && one.name.toLowerCase() === other.name.toLowerCase()
