import { Effect } from "effect"
import type { RawEntry } from "../../schema/applications/PlatformFile.ts"
import { secretsInUse } from "../../services/secrets/secretsInUse.ts"
import { redactJson } from "../../services/secrets/shownText.ts"
import type { Settings } from "../../services/settings/Settings.ts"

/** Entries of a project's `platform.json` for callers: every key, with the secrets in use masked. */
export const maskEntries = (
  entries: ReadonlyArray<RawEntry>
): Effect.Effect<ReadonlyArray<RawEntry>, never, Settings> =>
  Effect.map(
    secretsInUse,
    (secrets) =>
      entries.map((entry) =>
        Object.fromEntries(Object.entries(entry).map(([key, value]) => [key, redactJson(value, secrets)]))
      )
  )
