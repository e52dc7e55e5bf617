import { useEffect, useState } from "react"
import { Icon } from "./Icon.tsx"

/** The clipboard of a page without https is reached by a selection. */
const copyBySelection = (text: string): boolean => {
  const field = document.createElement("textarea")
  field.value = text
  document.body.append(field)
  field.select()
  const done = document.execCommand("copy")
  field.remove()
  return done
}

const copy = (text: string): Promise<boolean> =>
  navigator.clipboard === undefined
    ? Promise.resolve(copyBySelection(text))
    : navigator.clipboard.writeText(text).then(() => true, () => copyBySelection(text))

const shownFor = 2_000

/** Button that copies a text. */
export const CopyButton = ({ name, text }: { readonly name: string; readonly text: string }) => {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), shownFor)
    return () => clearTimeout(timer)
  }, [copied])
  const words = copied ? "Copied" : `Copy ${name}`
  return (
    <button
      type="button"
      className="icon-button copy"
      aria-label={words}
      title={words}
      onClick={() => void copy(text).then(setCopied)}
    >
      <Icon name={copied ? "check" : "copy"} />
    </button>
  )
}
