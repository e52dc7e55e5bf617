import type { SettingValue } from "../../schema/Settings.ts"
import { coolify } from "./coolify.ts"
import { neutral } from "./neutral.ts"
import type { PlatformProfile } from "./PlatformProfile.ts"

/** Every platform that Berth speaks to, by the name that the setting `platform.profile` has for it. */
export const profiles: Readonly<Record<SettingValue<"platform.profile">, PlatformProfile>> = {
  neutral,
  coolify
}
