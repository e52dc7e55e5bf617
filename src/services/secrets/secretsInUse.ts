import { Effect, type Redacted } from "effect"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import { Settings } from "../settings/Settings.ts"
import { scrubText } from "./scrubText.ts"

/** Secrets that are sent to a server, or that decrypt the credentials for it. */
export const listServerSecrets = (
  { credentials }: Pick<ServerAccess, "credentials">
): ReadonlyArray<Redacted.Redacted> =>
  [credentials.password, credentials.sudoPassword, credentials.passphrase].flatMap((secret) =>
    secret === undefined ? [] : [secret]
  )

/** Secrets that the settings currently hold; a secret that cannot be read is not in use. */
export const secretsInUse: Effect.Effect<ReadonlyArray<Redacted.Redacted>, never, Settings> = Effect.flatMap(
  Settings,
  ({ secrets }) => secrets
)

/** Removes the secrets in use from foreign text; set `cut` when its beginning is missing. */
export const scrubSecrets = (
  text: string,
  options?: { readonly cut?: boolean }
): Effect.Effect<string, never, Settings> => Effect.map(secretsInUse, (secrets) => scrubText(text, secrets, options))

/** Logs a warning with foreign text, without the secrets in use. */
export const logScrubbedWarning = (text: string): Effect.Effect<void, never, Settings> =>
  Effect.flatMap(scrubSecrets(text), (words) => Effect.logWarning(words))
