import { Effect, type Redacted } from "effect"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import { Settings } from "../settings/Settings.ts"
import { scrubText } from "./scrubText.ts"

/** The secrets that a server is shown, or that open what it is shown. */
export const listServerSecrets = (
  { credentials }: Pick<ServerAccess, "credentials">
): ReadonlyArray<Redacted.Redacted> =>
  [credentials.password, credentials.sudoPassword, credentials.passphrase].flatMap((secret) =>
    secret === undefined ? [] : [secret]
  )

/** Every secret that the settings hold now; one that cannot be read now is in no use. */
export const secretsInUse: Effect.Effect<ReadonlyArray<Redacted.Redacted>, never, Settings> = Effect.flatMap(
  Settings,
  ({ secrets }) => secrets
)

/** Text that may come from outside, without the secrets in use; `cut` when its beginning is missing. */
export const scrubSecrets = (
  text: string,
  options?: { readonly cut?: boolean }
): Effect.Effect<string, never, Settings> => Effect.map(secretsInUse, (secrets) => scrubText(text, secrets, options))

/** Warns in the log in words that may come from outside. */
export const logScrubbedWarning = (text: string): Effect.Effect<void, never, Settings> =>
  Effect.flatMap(scrubSecrets(text), (words) => Effect.logWarning(words))
