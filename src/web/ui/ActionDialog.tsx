import type { ReactNode } from "react"
import { Button } from "./Button.tsx"
import { Dialog } from "./Dialog.tsx"

/** Dialog that asks for one action, stays open until it has ended, and shows its result. */
export const ActionDialog = (
  { action, busy, changes = true, children, danger = false, disabled = false, isDone, onAct, onClose, title, wide }: {
    readonly title: string
    /** Label of the button that starts it. */
    readonly action: string
    /** True while it is under way. */
    readonly busy: boolean
    /** True once it has ended: the dialog can be closed only. */
    readonly isDone: boolean
    /** False for an action that changes nothing. */
    readonly changes?: boolean
    readonly danger?: boolean
    readonly disabled?: boolean
    readonly wide?: boolean
    readonly onAct: () => void
    readonly onClose: () => void
    readonly children: ReactNode
  }
) => (
  <Dialog label={title} className={wide === true ? "wide" : ""} busy={busy} onClose={onClose}>
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (!isDone) onAct()
      }}
    >
      <div className="dialog-body">
        <h2>{title}</h2>
        {children}
      </div>
      <div className="dialog-foot">
        <Button disabled={busy} onClick={onClose}>{isDone ? "Close" : "Leave it"}</Button>
        {isDone ?
          null :
          (
            <Button
              type="submit"
              changes={changes}
              look={danger ? "danger" : "main-action"}
              disabled={busy || disabled}
            >
              {action}
            </Button>
          )}
      </div>
    </form>
  </Dialog>
)
