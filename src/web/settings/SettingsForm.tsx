import { useState } from "react"
import type { ListedSetting, SettingJson } from "../../schema/settings/SettingsList.ts"
import { Button } from "../ui/Button.tsx"
import { Failure } from "../ui/Notes.tsx"
import { FileChange } from "./FileChange.tsx"
import { SettingField } from "./SettingField.tsx"
import { readValue } from "./settingText.ts"
import { type Draft, useSettingsChange } from "./useSettings.ts"

/** Values that the form submits. */
const toSend = (settings: ReadonlyArray<ListedSetting>, draft: Draft): Draft =>
  Object.fromEntries(
    settings.flatMap(({ kind, name }): ReadonlyArray<readonly [string, SettingJson]> => {
      const value = draft[name]
      return value === undefined ? [] : [[name, readValue(kind, value)]]
    })
  )

/** Form of some settings: shows the change of the settings file before it writes it. */
export const SettingsForm = (
  { label, settings }: { readonly label: string; readonly settings: ReadonlyArray<ListedSetting> }
) => {
  const [draft, setDraft] = useState<Draft>({})
  const { change, plan } = useSettingsChange(() => setDraft({}))
  const isChanged = Object.keys(draft).length > 0
  const discard = () => {
    for (const result of [plan, change]) if (!result.isIdle) result.reset()
  }
  return (
    <form
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault()
        const values = toSend(settings, draft)
        if (plan.data === undefined) plan.mutate(values)
        else change.mutate(values)
      }}
    >
      <div className="settings-fields">
        {settings.map((setting) => (
          <SettingField
            key={setting.name}
            setting={setting}
            draft={draft[setting.name]}
            onChange={(value) => {
              discard()
              setDraft({ ...draft, [setting.name]: value })
            }}
          />
        ))}
      </div>
      {plan.data === undefined ? null : <FileChange change={plan.data} />}
      <Failure error={plan.error} />
      <Failure error={change.error} />
      {isChanged
        ? (
          <div className="settings-foot">
            <Button
              disabled={change.isPending}
              onClick={() => {
                discard()
                setDraft({})
              }}
            >
              Leave it
            </Button>
            <Button
              type="submit"
              changes
              look="main-action"
              disabled={plan.isPending || change.isPending || plan.data?.changed === false}
            >
              {plan.data === undefined ? "See the change" : "Write the change"}
            </Button>
          </div>
        )
        : null}
    </form>
  )
}
