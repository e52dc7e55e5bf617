import { type ReactNode, useState } from "react"
import { useUnderWay } from "../runs/useRuns.ts"
import { Button } from "../ui/Button.tsx"
import { RemovalDialog, type RemovalSubject } from "./RemovalDialog.tsx"

/** Button that asks to remove an application; disabled while an upsert of it is under way. */
export const RemoveButton = ({ name, onAsk }: { readonly name: string; readonly onAsk: () => void }) => {
  const isUpserting = useUnderWay().some(({ kind, subject }) => kind === "upsert" && subject.appName === name)
  return <Button icon="bin" changes disabled={isUpserting} onClick={onAsk}>Remove</Button>
}

/** State of the removal dialog of a screen. The dialog outlives the application, to show the outcome. */
export const useRemoval = (): {
  readonly ask: (application: RemovalSubject) => void
  readonly dialog: ReactNode
} => {
  const [application, setApplication] = useState<RemovalSubject>()
  return {
    ask: setApplication,
    dialog: application === undefined
      ? null
      : <RemovalDialog application={application} onClose={() => setApplication(undefined)} />
  }
}
