import * as NodeContext from "@effect/platform-node/NodeContext"
import { Effect, Layer } from "effect"
import type { SettingsUnconfirmed } from "../../schema/Settings.ts"
import { LocalFilesLive } from "../../services/local/LocalFilesLive.ts"
import { LocksLive } from "../../services/locks/Locks.ts"
import { confirmText } from "../../services/settings/file/confirmationStore.ts"

const local = Layer.merge(LocalFilesLive, LocksLive).pipe(Layer.provideMerge(NodeContext.layer))

/** Notes that the user confirmed a settings file, with the text that the user was asked about. */
export const confirmSettings = ({ file, sha256 }: SettingsUnconfirmed) =>
  Effect.provide(confirmText(file, sha256), local)
