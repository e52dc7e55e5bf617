import type { SettingValue } from "../../schema/Settings.ts"
import { gitea } from "./gitea.ts"
import { neutral } from "./neutral.ts"
import type { GitHostProfile } from "./profile.ts"

/** Supported git hosts, by their name in the setting `gitHost.profile`. */
export const profiles: Readonly<Record<SettingValue<"gitHost.profile">, GitHostProfile>> = {
  neutral,
  gitea,
  forgejo: gitea
}
