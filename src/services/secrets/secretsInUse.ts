import { Effect, Option } from "effect"
import type { Redacted } from "effect"
import type { ServerAccess } from "../../schema/Server.ts"
import { Settings } from "../settings/Settings.ts"
import { scrubbed } from "./scrubbed.ts"

const secretSettings = ["token", "platform.token", "gitHost.token", "gitHost.webhookSecret", "http.token"] as const

/** The secrets that a server is shown, or that open what it is shown. */
export const serverSecrets = ({ credentials }: Pick<ServerAccess, "credentials">): ReadonlyArray<Redacted.Redacted> =>
  [credentials.password, credentials.sudoPassword, credentials.passphrase].flatMap((secret) =>
    secret === undefined ? [] : [secret]
  )

/** Every secret that the settings hold now; one that cannot be read now is in no use. */
export const secretsInUse: Effect.Effect<ReadonlyArray<Redacted.Redacted>, never, Settings> = Effect.gen(function*() {
  const settings = yield* Settings
  const named = yield* Effect.forEach(
    secretSettings,
    (name) => Effect.map(Effect.option(settings.find(name)), Option.flatten)
  )
  const servers = yield* Effect.orElseSucceed(settings.servers, () => [])
  const stored = yield* Effect.forEach(servers, ({ id }) => Effect.option(settings.server(id)))
  return [...named.flatMap(Option.toArray), ...stored.flatMap(Option.toArray).flatMap(serverSecrets)]
})

/** Text that may come from outside, without the secrets in use. */
export const withoutSecrets = (text: string): Effect.Effect<string, never, Settings> =>
  Effect.map(secretsInUse, (secrets) => scrubbed(text, secrets))

/** Warns in the log in words that may come from outside. */
export const warnWithoutSecrets = (text: string): Effect.Effect<void, never, Settings> =>
  Effect.flatMap(withoutSecrets(text), (words) => Effect.logWarning(words))
