import { useEffect, useRef } from "react"
import type { SettingsChanged } from "../../schema/settings/SettingsList.ts"
import { Diff } from "../projects/plan/Diff.tsx"

/**
 * Change of the settings file before it is written.
 * @param reveal scrolls to it: a long form hides it below its fields
 */
export const FileChange = ({ change: { changed, diff, file }, reveal = false }: {
  readonly change: SettingsChanged
  readonly reveal?: boolean
}) => {
  const section = useRef<HTMLElement>(null)
  useEffect(() => {
    if (reveal) section.current?.scrollIntoView({ block: "nearest" })
  }, [reveal])
  return (
    <section ref={section} className="file-plan" aria-label="Change of the settings file">
      <p className="where">
        <code className="grow">{file}</code>
      </p>
      {changed ? <Diff diff={diff} name={file} /> : <p className="quiet">It says so already: nothing would change.</p>}
    </section>
  )
}
