import type { SettingValue } from "../../schema/Settings.ts"
import { gitea } from "./gitea.ts"
import { neutral } from "./neutral.ts"
import type { GitHostProfile } from "./profile.ts"

/** Every git host that Berth speaks to, by the name that the setting `gitHost.profile` has for it. */
export const profiles: Readonly<Record<SettingValue<"gitHost.profile">, GitHostProfile>> = {
  neutral,
  gitea,
  forgejo: gitea
}
