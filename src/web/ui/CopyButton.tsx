import { useEffect, useState } from "react"
import { copyText } from "../browser/copyText.ts"
import { Icon } from "./Icon.tsx"

const shownFor = 2_000

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
      onClick={() => void copyText(text).then(setCopied)}
    >
      <Icon name={copied ? "check" : "copy"} />
    </button>
  )
}
