import { expect, it } from "vitest"
import { maskArguments } from "../../../src/services/masking.ts"

it.each([
  [["psql", "-c", "select 1"], ["psql", "***", "***"]],
  [["./migrate.sh", "--password=x"], ["./migrate.sh", "***"]],
  [["C:\\tools\\make.exe"], ["C:\\tools\\make.exe"]],
  [["PGPASSWORD=x psql", "-l"], ["***", "***"]],
  [["TOKEN=x"], ["***"]],
  [["curl https://ann:x@h/"], ["***"]],
  [[], []]
])("a viewer sees of the command %j no more than its program", (command, shown) => {
  expect(maskArguments(command)).toEqual(shown)
})
