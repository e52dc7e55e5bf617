import { useEffect, useRef } from "react"
import { Icon } from "./Icon.tsx"

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** Calls back when a letter key is pressed outside of text fields. */
export const useKey = (key: string, pressed: () => void): void => {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key !== key || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      if (document.querySelector("dialog[open]") !== null) return
      event.preventDefault()
      pressed()
    }
    addEventListener("keydown", listen)
    return () => removeEventListener("keydown", listen)
  }, [key, pressed])
}

/** Filter field; `/` focuses it. */
export const Search = ({ label, onChange, value }: {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
}) => {
  const input = useRef<HTMLInputElement>(null)
  useKey("/", () => input.current?.focus())
  return (
    <label className="search">
      <Icon name="search" />
      <input
        ref={input}
        value={value}
        placeholder="Filter"
        aria-label={label}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return
          onChange("")
          event.currentTarget.blur()
        }}
      />
      <kbd aria-hidden="true">/</kbd>
    </label>
  )
}
