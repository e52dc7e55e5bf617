import type { ReactNode } from "react"
import { Button } from "./Button.tsx"
import { Dialog } from "./Dialog.tsx"

/** Asks before something changes: it names what will happen, and the button says what it does. */
export const Confirm = ({ action, children, danger = false, disabled = false, onClose, onConfirm, title }: {
  readonly title: string
  readonly action: string
  readonly danger?: boolean
  readonly disabled?: boolean
  readonly onConfirm: () => void
  readonly onClose: () => void
  readonly children: ReactNode
}) => (
  <Dialog label={title} onClose={onClose}>
    <form method="dialog" onSubmit={onConfirm}>
      <div className="dialog-body">
        <h2>{title}</h2>
        {children}
      </div>
      <div className="dialog-foot">
        <Button onClick={onClose}>Leave it</Button>
        <Button type="submit" look={danger ? "danger" : "main-action"} disabled={disabled}>{action}</Button>
      </div>
    </form>
  </Dialog>
)
