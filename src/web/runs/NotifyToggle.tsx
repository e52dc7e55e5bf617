import { Button } from "../ui/Button.tsx"
import { canNotify, setEndNotices, useEndNotices } from "./endNotices.ts"

/** Button that turns browser notifications about ended runs on or off. */
export const NotifyToggle = () => {
  const isOn = useEndNotices()
  if (!canNotify()) return null
  return (
    <Button look="small" icon={isOn ? "check" : "send"} onClick={() => setEndNotices(!isOn)}>
      {isOn ? "You will be told" : "Tell me when it ends"}
    </Button>
  )
}
