import { Button } from "../ui/Button.tsx"
import { canNotify, setEndNotices, useEndNotices } from "./endNotices.ts"

/** Asks for a notification of the browser when a run ends, or takes that back. */
export const TellMe = () => {
  const isOn = useEndNotices()
  if (!canNotify()) return null
  return (
    <Button look="small" icon={isOn ? "check" : "send"} onClick={() => setEndNotices(!isOn)}>
      {isOn ? "You will be told" : "Tell me when it ends"}
    </Button>
  )
}
