import type { Path } from "@effect/platform"
import { Effect, Either, Option } from "effect"
import { SettingsUnavailable, SettingsUnconfirmed } from "../../../schema/Settings.ts"
import { limits } from "../../../schema/words/limits.ts"
import { LocalFiles } from "../../local/LocalFiles.ts"
import { LocalFilesLive } from "../../local/LocalFilesLive.ts"
import { parseSettingsDocument } from "../read/settingsDocument.ts"
import { digestSettingsText, readConfirmedDigests } from "./confirmationStore.ts"
import { describeUse } from "./describeUse.ts"
import { locateSettings, type SettingsLocation } from "./locateSettings.ts"

const requireConfirmed = Effect.fn("requireConfirmed")(function*(
  { file, isNamed }: SettingsLocation
): Effect.fn.Return<void, SettingsUnconfirmed | SettingsUnavailable, LocalFiles | Path.Path> {
  if (isNamed) return
  const files = yield* LocalFiles
  const unavailable = ({ reason }: { readonly reason: string }) => new SettingsUnavailable({ file, reason })
  const entry = yield* Effect.mapError(files.find(file), unavailable)
  if (Option.exists(entry, ({ size }) => size > limits.file)) {
    return yield* unavailable({ reason: `is larger than ${limits.file / 1024} KiB` })
  }
  const bytes = yield* Effect.mapError(files.read(file), unavailable)
  const confirmed = yield* readConfirmedDigests(file)
  const sha256 = digestSettingsText(bytes)
  if (confirmed.includes(sha256)) return
  return yield* new SettingsUnconfirmed({
    file,
    sha256,
    isChanged: confirmed.length > 0,
    uses: Either.match(parseSettingsDocument(file, new TextDecoder().decode(bytes)), {
      onLeft: ({ message }) => [message],
      onRight: describeUse
    })
  })
})

/**
 * Locates the settings, see `locateSettings`. Fails for a file that was only found in the working directory and whose
 * current text is not confirmed.
 */
export const requireConfirmedSettings = (given: Option.Option<string> = Option.none()) =>
  Effect.tap(locateSettings(given), requireConfirmed).pipe(Effect.provide(LocalFilesLive))
