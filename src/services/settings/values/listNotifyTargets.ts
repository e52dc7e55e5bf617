import { Effect, Option } from "effect"
import type { ListedTarget } from "../../../schema/notify/Notify.ts"
import type { SettingsDocument } from "../read/settingsDocument.ts"
import type { notifyTargetReader } from "../read/storedNotifyTargets.ts"

/** Lists the targets of a document with their problems, without addresses and secrets. */
export const listNotifyTargets = (reader: ReturnType<typeof notifyTargetReader>) => ({ targets }: SettingsDocument) =>
  Effect.map(reader.judged(targets), (judged) =>
    judged.map(({ error, line, name, target }): ListedTarget => ({
      name: Option.match(target, { onNone: () => name, onSome: (known) => known.name }),
      format: Option.match(target, { onNone: () => "", onSome: (known) => known.format }),
      events: Option.match(target, { onNone: () => [], onSome: (known) => known.events }),
      line,
      problem: Option.getOrNull(Option.map(error, ({ message }) => message))
    })))
