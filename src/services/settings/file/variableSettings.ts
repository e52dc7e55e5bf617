import { Effect, Option, Redacted, type Scope } from "effect"
import { SettingsUnavailable } from "../../../schema/settings.ts"
import { LocalFiles } from "../../local/LocalFiles.ts"
import { parseSettingsDocument } from "../document.ts"
import type { Edited, SettingsStore, Snapshot } from "../SettingsFile.ts"

/**
 * Settings in the text of an environment variable, which cannot be changed. What Berth keeps beside a settings file is
 * kept in a private temporary directory until the scope closes, and holds none of these settings.
 * @param file name of the variable, for messages
 */
export const makeVariableSettings = (
  file: string,
  text: Redacted.Redacted
): Effect.Effect<SettingsStore, never, LocalFiles | Scope.Scope> =>
  Effect.gen(function*() {
    const files = yield* LocalFiles
    const directory = yield* Effect.acquireRelease(
      Effect.orDie(files.temporaryDirectory("berth-")),
      (directory) => Effect.ignoreLogged(files.remove(directory))
    )
    const snapshot: Snapshot = {
      text: Redacted.value(text),
      document: parseSettingsDocument(file, Redacted.value(text))
    }
    const fixed = new SettingsUnavailable({
      file,
      isFixed: true,
      reason:
        "the settings are in this environment variable, which Berth cannot change. Nothing was changed: change the " +
        "variable, or keep the settings in a file that --config names"
    })
    return {
      file,
      directory,
      isLasting: false,
      current: Effect.succeed(snapshot),
      change: <A, E>(edit: (snapshot: Snapshot) => Effect.Effect<Edited<A>, E>) =>
        Effect.flatMap(edit(snapshot), ([answer, after]) => Option.isNone(after) ? Effect.succeed(answer) : fixed)
    }
  })
