import * as NodeContext from "@effect/platform-node/NodeContext"
import { Effect, Layer } from "effect"
import type { SettingsUnconfirmed } from "../../schema/settings.ts"
import { LocalFilesLive } from "../../services/local/LocalFiles.ts"
import { LocksLive } from "../../services/locks/Locks.ts"
import { confirmText } from "../../services/settings/confirm.ts"

const local = Layer.merge(LocalFilesLive, LocksLive).pipe(Layer.provideMerge(NodeContext.layer))

/** Records that the user confirmed a settings file, by the digest of the text that was confirmed. */
export const confirmSettings = ({ file, sha256 }: SettingsUnconfirmed) =>
  Effect.provide(confirmText(file, sha256), local)
