import { type ReactNode, useEffect, useRef } from "react"

/** A window over the page, which Escape closes. */
export const Dialog = ({ children, className = "", label, onClose }: {
  readonly label: string
  readonly className?: string
  readonly onClose: () => void
  readonly children: ReactNode
}) => {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog
      ref={dialog}
      className={className}
      aria-label={label}
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && dialog.current.close()}
    >
      {children}
    </dialog>
  )
}
