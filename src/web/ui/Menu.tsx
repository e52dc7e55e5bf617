import { type ReactNode, useId, useRef } from "react"
import { Icon } from "./Icon.tsx"

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
