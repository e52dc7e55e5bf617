import { useEffect, useRef, useState } from "react"
import { useSearchParams } from "wouter"
import { useNarrow } from "../browser/useNarrow.ts"
import { type Level, levels } from "./shownLine.ts"

/** State of a log view that is stored in the address. */
export interface LogAddress {
  readonly text: string
  readonly source: string
  readonly level: Level | undefined
  readonly since: string
  /** Also shows lines without the text. */
  readonly showAll: boolean
  /** Searches on the server, which reaches further back. */
  readonly whole: boolean
  /** Wraps long lines; by default only on a telephone. */
  readonly wrap: boolean
  readonly unfold: boolean
  /** Time of the line that a link leads to. */
  readonly at: string
}

type Change = Readonly<Record<string, string | undefined>>

const writeDelay = 300

/** Reads and writes the state of a log view in the address; keeps its other parameters. */
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
  // Delayed: browsers limit the rate of address changes.
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
