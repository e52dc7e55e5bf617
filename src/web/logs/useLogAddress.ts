import { useEffect, useRef, useState } from "react"
import { useSearchParams } from "wouter"
import { useNarrow } from "../browser/useNarrow.ts"
import { type Level, levels } from "./shownLine.ts"

/** Choices of a log view that are kept in the address. */
export interface LogAddress {
  readonly text: string
  readonly source: string
  readonly level: Level | undefined
  readonly since: string
  /** Shows lines without the text too. */
  readonly showAll: boolean
  /** Asks the server for lines with the text, further back. */
  readonly whole: boolean
  /** Breaks long lines; on a telephone unless the address says otherwise. */
  readonly wrap: boolean
  readonly unfold: boolean
  /** Time of the line that a link leads to. */
  readonly at: string
}

type Change = Readonly<Record<string, string | undefined>>

const writeDelay = 300

/** Reads and writes the choices of a log view in the address, beside what else is there. */
export const useLogAddress = () => {
  const [params, setParams] = useSearchParams()
  const narrow = useNarrow()
  const change = (changes: Change) =>
    setParams((before) => {
      const after = new URLSearchParams(before)
      for (const [name, value] of Object.entries(changes)) {
        if (value === undefined || value === "") after.delete(name)
        else after.set(name, value)
      }
      return after
    }, { replace: true })
  const latest = useRef(change)
  latest.current = change

  const written = params.get("q") ?? ""
  const [text, setText] = useState(written)
  // Browsers limit how often the address may change.
  useEffect(() => {
    if (text === written) return
    const timer = setTimeout(() => latest.current({ q: text }), writeDelay)
    return () => clearTimeout(timer)
  }, [text, written])

  const address: LogAddress = {
    text,
    source: params.get("service") ?? "",
    level: levels.find((level) => level === params.get("level")),
    since: params.get("since") ?? "",
    showAll: params.get("show") === "all",
    whole: params.get("search") === "whole",
    wrap: (params.get("wrap") ?? (narrow ? "1" : "0")) === "1",
    unfold: params.get("json") === "1",
    at: Number.isNaN(Date.parse(params.get("at") ?? "")) ? "" : params.get("at") ?? ""
  }
  return { address, change, setText }
}
