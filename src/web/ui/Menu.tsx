import { type ReactNode, useId, useRef } from "react"
import { Icon } from "./Icon.tsx"

/** Button that opens a list of further actions below it. */
export const Menu = ({ children, label }: { readonly label: string; readonly children: ReactNode }) => {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const place = () => {
    const box = button.current?.getBoundingClientRect()
    if (box === undefined || list.current === null) return
    list.current.style.top = `${box.bottom + 4}px`
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
