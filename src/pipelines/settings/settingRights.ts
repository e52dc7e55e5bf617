import { Effect } from "effect"
import { CurrentCaller } from "../../services/access/Caller.ts"
import { mayChange } from "../../services/access/rights.ts"
import { findSettingRefusal } from "../../services/settings/values/settingRights.ts"

/** Reason, as a sentence, why the current caller may not change a setting; null if permitted. */
export const findChangeRefusal = (setting: string) =>
  Effect.gen(function*() {
    const caller = yield* CurrentCaller
    const { limitedBy, role } = caller
    if (!mayChange(role)) {
      return limitedBy === undefined
        ? "A viewer changes nothing"
        : `Agents may only read here: the setting ${limitedBy} is on`
    }
    const reason = findSettingRefusal(setting, caller)
    return reason === undefined
      ? null
      : `It ${reason}: change it there with berth settings set ${setting}, or in the file`
  })
