import { useState } from "react"
import { copyText } from "../browser/copyText.ts"
import { formatClock } from "../format/localTime.ts"
import type { ShownLine } from "./shownLine.ts"

interface Copied {
  readonly words: string
  /** Link to copy by hand if the browser refused to copy it. */
  readonly url?: string
}

/** Copies links to lines of the log. */
export const useCopiedLink = () => {
  const [copied, setCopied] = useState<Copied>()
  const copyLink = (line: ShownLine) => {
    const url = new URL(location.href)
    url.searchParams.set("at", line.time)
    url.searchParams.delete("since")
    void copyText(url.href).then((done) =>
      setCopied(
        done
          ? { words: `Copied a link to the line of ${formatClock(line.ms)}` }
          : { words: "Copy this link:", url: url.href }
      )
    )
  }
  return { copied, copyLink }
}

/** Announces the copied link, or shows it if it could not be copied. */
export const CopiedLink = ({ link }: { readonly link: Copied | undefined }) => (
  <p className="log-copied quiet" role="status">
    {link === undefined ? null : (
      <>
        {link.words} {link.url === undefined ? null : <code>{link.url}</code>}
      </>
    )}
  </p>
)
