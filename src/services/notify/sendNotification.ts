import { Array, Clock, Effect } from "effect"
import { NotifyFailed, type NotifyMessage } from "../../schema/notify/Notify.ts"
import type { NotifyTarget } from "../../schema/notify/NotifyTarget.ts"
import { scrubSecrets } from "../secrets/secretsInUse.ts"
import { Settings } from "../settings/Settings.ts"
import { render } from "./formats.ts"
import { Post } from "./Post.ts"

/** Finds the target with this name in the settings. */
export const findNotifyTarget = (name: string) =>
  Effect.flatMap(
    Settings,
    ({ targets }) => Effect.map(targets, Array.findFirst((target: NotifyTarget) => target.name === name))
  )

/** Sends a message to one target once, and answers the status of its receiver. The reason of a failure holds no secret. */
export const sendNotification = Effect.fn("notify.send")(function*(
  { access, format, name }: NotifyTarget,
  message: NotifyMessage
): Effect.fn.Return<number, NotifyFailed, Post | Settings> {
  const { secret, url } = yield* Effect.mapError(access, ({ message: reason }) => new NotifyFailed({ name, reason }))
  const seconds = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
  return yield* (yield* Post).send(url, render(format, message, secret, seconds)).pipe(
    Effect.catchAll(({ pause, reason }) =>
      Effect.flatMap(
        scrubSecrets(reason),
        (shown) => new NotifyFailed({ name, reason: shown, ...pause === undefined ? {} : { pause } })
      )
    )
  )
})
