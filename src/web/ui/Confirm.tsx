import type { ReactNode } from "react"
import { ActionDialog } from "./ActionDialog.tsx"

/** Confirmation dialog: names the change, and its button names the action. */
export const Confirm = ({ onClose, onConfirm, stays = false, ...props }: {
  readonly title: string
  readonly action: string
  readonly danger?: boolean
  readonly disabled?: boolean
  /** Stays open after the confirmation, for a failure to be shown in it. */
  readonly stays?: boolean
  /** Has room for diffs. */
  readonly wide?: boolean
  readonly onConfirm: () => void
  readonly onClose: () => void
  readonly children: ReactNode
}) => (
  <ActionDialog
    {...props}
    busy={false}
    isDone={false}
    onClose={onClose}
    onAct={() => {
      onConfirm()
      if (!stays) onClose()
    }}
  />
)
