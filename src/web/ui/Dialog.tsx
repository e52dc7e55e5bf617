import { type ReactNode, useEffect, useRef } from "react"

/** Modal dialog; closes on Escape, and on a press on the backdrop unless the user has typed into it. */
export const Dialog = ({ busy = false, children, className = "", label, onClose }: {
  readonly label: string
  readonly className?: string
  /** Keeps it open until the work that it started has ended. */
  readonly busy?: boolean
  readonly onClose: () => void
  readonly children: ReactNode
}) => {
  const dialog = useRef<HTMLDialogElement>(null)
  // Checks the press, not the release: a text selection may end on the backdrop.
  const pressed = useRef(false)
  const typed = useRef(false)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog
      ref={dialog}
      className={className}
      aria-label={label}
      aria-busy={busy}
      onCancel={(event) => busy && event.preventDefault()}
      // The browser closes a dialog on a second Escape, even if the first one was prevented.
      onClose={() => busy ? dialog.current?.showModal() : onClose()}
      onInput={({ target }) => typed.current ||= !(target instanceof HTMLElement && target.role === "combobox")}
      onPointerDown={({ target }) => pressed.current = target === dialog.current}
      onClick={({ target }) => {
        if (pressed.current && target === dialog.current && !typed.current && !busy) dialog.current?.close()
      }}
    >
      {children}
    </dialog>
  )
}
