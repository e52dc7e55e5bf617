/** One part of the report: a heading, a table, and what there is to say about it. */
export interface Section {
  readonly title: string
  readonly columns: ReadonlyArray<string>
  readonly rows: ReadonlyArray<ReadonlyArray<string>>
  readonly notes?: ReadonlyArray<string>
}

/** A line of the comparison with the goals. */
export interface Goal {
  readonly work: string
  readonly goal: string
  readonly measured: string
  readonly met: boolean
}

const cell = (text: string, width: number) => text.padEnd(width)

/** A table as Markdown, its columns of even width. */
export const table = (columns: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = columns.map((name, index) => Math.max(3, name.length, ...rows.map((row) => row[index]?.length ?? 0)))
  const line = (cells: ReadonlyArray<string>) =>
    `| ${widths.map((width, index) => cell(cells[index] ?? "", width)).join(" | ")} |`
  return [line(columns), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n")
}

export const sectionText = ({ columns, notes = [], rows, title }: Section): string =>
  [`## ${title}`, table(columns, rows), ...notes].join("\n\n")

/** The goals and whether they were met. */
export const goalsTable = (goals: ReadonlyArray<Goal>): string =>
  table(
    ["work", "goal", "measured", ""],
    goals.map(({ goal, measured, met, work }) => [work, goal, measured, met ? "met" : "**missed**"])
  )
