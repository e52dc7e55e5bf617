import { type ReactNode, useEffect, useId, useRef, useState } from "react"
import { Button, Icon } from "./components.tsx"

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

/** Button that opens a list of further actions below it, or above it in the lower half of the screen. */
export const Menu = ({ children, label }: { readonly label: string; readonly children: ReactNode }) => {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const place = () => {
    const box = button.current?.getBoundingClientRect()
    if (box === undefined || list.current === null) return
    // Opens towards the side with more room: the height of the list is unknown before it opens.
    const { clientHeight } = document.documentElement
    const opensUpwards = box.top > clientHeight / 2
    list.current.style.top = opensUpwards ? "auto" : `${box.bottom + 4}px`
    list.current.style.bottom = opensUpwards ? `${clientHeight - box.top + 4}px` : "auto"
    list.current.style.right = `${Math.max(8, document.documentElement.clientWidth - box.right)}px`
  }
  return (
    <>
      <button
        ref={button}
        type="button"
        className="button small more-button"
        popoverTarget={id}
        aria-haspopup="true"
        aria-label={label}
        title={label}
      >
        <Icon name="more" />
      </button>
      <div
        ref={list}
        id={id}
        popover="auto"
        className="menu-list"
        role="group"
        aria-label={label}
        onBeforeToggle={place}
        onClick={() => list.current?.hidePopover()}
      >
        {children}
      </div>
    </>
  )
}

/**
 * Confirmation of a change of a protected environment: the field that takes its name, whether the name is right, and the
 * part of the request that has it. Without such an environment there is nothing to confirm.
 */
export const useProtection = (environment: string | undefined): {
  readonly field: ReactNode
  readonly isConfirmed: boolean
  readonly confirmation: { readonly confirm?: string }
} => {
  const [typed, setTyped] = useState("")
  if (environment === undefined) return { field: null, isConfirmed: true, confirmation: {} }
  return {
    field: (
      <label className="field">
        <span>
          <strong>{environment}</strong> is protected: type its name to confirm
        </span>
        <input value={typed} autoComplete="off" spellCheck={false} onChange={({ target }) => setTyped(target.value)} />
      </label>
    ),
    isConfirmed: typed === environment,
    confirmation: { confirm: typed }
  }
}
