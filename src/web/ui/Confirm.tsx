import type { ReactNode } from "react"
import { Button } from "./Button.tsx"
import { Dialog } from "./Dialog.tsx"

/** Confirmation dialog: names the change, and its button names the action. */
export const Confirm = (
  { action, children, danger = false, disabled = false, onClose, onConfirm, stays = false, title, wide = false }: {
    readonly title: string
    readonly action: string
    readonly danger?: boolean
    readonly disabled?: boolean
    /** Stays open after the confirmation, to show a failure. */
    readonly stays?: boolean
    /** Has room for diffs. */
    readonly wide?: boolean
    readonly onConfirm: () => void
    readonly onClose: () => void
    readonly children: ReactNode
  }
) => (
  <Dialog label={title} className={wide ? "wide" : ""} onClose={onClose}>
    <form
      method="dialog"
      onSubmit={(event) => {
        if (stays) event.preventDefault()
        onConfirm()
      }}
    >
      <div className="dialog-body">
        <h2>{title}</h2>
        {children}
      </div>
      <div className="dialog-foot">
        <Button onClick={onClose}>Leave it</Button>
        <Button type="submit" changes look={danger ? "danger" : "main-action"} disabled={disabled}>{action}</Button>
      </div>
    </form>
  </Dialog>
)
