import type { LogRow } from "./logRows.ts"

/** Saves the lines as a text file: time, source and text of each. */
export const download = (name: string, rows: ReadonlyArray<LogRow>, withSource: boolean): void => {
  const lines = rows.flatMap((row) =>
    row.kind === "line"
      ? [[row.time, ...withSource ? [row.source] : [], row.text].filter((part) => part !== "").join(" ")]
      : []
  )
  const url = URL.createObjectURL(new Blob([`${lines.join("\n")}\n`], { type: "text/plain" }))
  const link = document.createElement("a")
  link.href = url
  link.download = `${name.replaceAll(/[^A-Za-z0-9._-]+/g, "-")}.log`
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
