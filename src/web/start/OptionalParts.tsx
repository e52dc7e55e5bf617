import { useState } from "react"
import type { ListedSetting } from "../../schema/settings/SettingsList.ts"
import { filterByGroup, optionalParts } from "../settings/groups.ts"
import { SettingsForm } from "../settings/SettingsForm.tsx"
import { isStored } from "../settings/settingText.ts"
import { Button } from "../ui/Button.tsx"
import { Panel } from "../ui/Panel.tsx"

const Part = ({ part, settings }: {
  readonly part: typeof optionalParts[number]
  readonly settings: ReadonlyArray<ListedSetting>
}) => {
  const [open, setOpen] = useState(false)
  const own = filterByGroup(part, settings)
  return (
    <Panel
      title={part.title}
      note={own.some(isStored) ? "set up" : "optional"}
      aside={
        <Button look="small" onClick={() => setOpen(!open)}>
          {open ? "Close" : "Set up"}
          <span className="unseen">{part.title}</span>
        </Button>
      }
    >
      <p className="body quiet">{part.about}</p>
      {open ? <SettingsForm label={part.title} settings={own} /> : null}
    </Panel>
  )
}

/** Settings that a fresh installation does not need, by group. */
export const OptionalParts = ({ settings }: { readonly settings: ReadonlyArray<ListedSetting> }) => (
  <section className="optional-parts" aria-label="Optional parts">
    {optionalParts.map((part) => <Part key={part.title} part={part} settings={settings} />)}
  </section>
)
