import type { SettingValue } from "../../schema/Settings.ts"
import { coolify } from "./coolify.ts"
import { neutral } from "./neutral.ts"
import type { PlatformProfile } from "./PlatformProfile.ts"

/** Supported platforms, by their name in the setting `platform.profile`. */
export const profiles: Readonly<Record<SettingValue<"platform.profile">, PlatformProfile>> = {
  neutral,
  coolify
}
