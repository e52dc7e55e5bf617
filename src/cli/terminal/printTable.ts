import { Effect } from "effect"
import { formatTable } from "./formatTable.ts"
import { Screen } from "./Screen.ts"

/** Prints a table, or a sentence if there are no rows. */
export const printTable = (
  none: string,
  headings: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>
): Effect.Effect<void, never, Screen> =>
  Effect.flatMap(
    Screen,
    ({ out, print, say }) => rows.length === 0 ? say(none) : print(formatTable(headings, rows, out))
  )
