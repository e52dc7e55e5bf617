import { Clock, Effect, Option } from "effect"
import { NotifyTargetUnknown, type NotifyTested } from "../../schema/notify/Notify.ts"
import { Settings } from "../settings/Settings.ts"
import { buildTestMessage } from "./buildNotices.ts"
import { findNotifyTarget, sendNotification } from "./sendNotification.ts"

/** Sends a test message to one target, in one attempt. */
export const testTarget = (name: string) =>
  Effect.gen(function*() {
    const found = yield* findNotifyTarget(name)
    if (Option.isNone(found)) {
      const names = (yield* (yield* Settings).targets).map((target) => target.name)
      return yield* new NotifyTargetUnknown({ name, names })
    }
    const since = yield* Clock.currentTimeMillis
    const status = yield* sendNotification(found.value, buildTestMessage(name, since))
    const milliseconds = (yield* Clock.currentTimeMillis) - since
    return { name, format: found.value.format, status, milliseconds } satisfies NotifyTested
  })
