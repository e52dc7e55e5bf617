import { type ReactNode, useEffect, useRef } from "react"

/** Modal dialog; Escape closes it, and so does a press on the backdrop while nothing was typed into it. */
export const Dialog = ({ busy = false, children, className = "", label, onClose }: {
  readonly label: string
  readonly className?: string
  /** Keeps it open until what it started has ended. */
  readonly busy?: boolean
  readonly onClose: () => void
  readonly children: ReactNode
}) => {
  const dialog = useRef<HTMLDialogElement>(null)
  // Selecting text may end on the backdrop: the press counts, not the release.
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
      // The browser closes it on a second Escape, whatever the first one was answered.
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
