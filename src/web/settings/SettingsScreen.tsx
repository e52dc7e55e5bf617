import { Link } from "wouter"
import { Head } from "../ui/Head.tsx"
import { Failure, Waiting } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { filterByGroup, settingGroups } from "./groups.ts"
import { SettingsForm } from "./SettingsForm.tsx"
import { useSettings } from "./useSettings.ts"

/** Screen of the settings file, one form for each group of settings. */
export const SettingsScreen = () => {
  const { data, error, refetch } = useSettings()
  return (
    <div className="page">
      <Head title="Settings" facts={data === undefined ? [] : [["File", <code>{data.file}</code>]]}>
        <p className="quiet">
          Only the lines that you change are written. The <Link className="link" href="/servers">servers</Link>{" "}
          have a screen of their own.
        </p>
      </Head>
      {error === null ? null : (
        <Panel title="Settings that cannot be read">
          <Failure error={error} again={refetch} />
        </Panel>
      )}
      {data === undefined
        ? error === null ? <Waiting what="the settings" /> : null
        : settingGroups.map((group) => (
          <Panel key={group.title} title={group.title} note={group.about}>
            <SettingsForm label={group.title} settings={filterByGroup(group, data.settings)} />
          </Panel>
        ))}
    </div>
  )
}
