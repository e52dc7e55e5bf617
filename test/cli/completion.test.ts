import { describe, expect, it } from "vitest"
import { findCandidates } from "../../src/cli/completion.ts"
import { berthCommand } from "../../src/cli/program.ts"

const found = (line: string) => findCandidates(berthCommand, line.split(" "))
const none = { words: [], given: [], options: new Map() }

describe("what a shell completes after berth", () => {
  it.each([
    ["dep", ["deploy"]],
    ["re", ["rollback", "releases", "restart", "remove", "restore"].filter((name) => name.startsWith("re"))],
    ["server s", ["scan", "stats"]],
    ["deploy hello --d", ["--dry-run", "--detailed-exitcode"]],
    ["app up --y", ["--yes"]],
    ["sandbox --vendor c", ["coolify"]],
    ["completions ", ["bash", "zsh", "fish"]]
  ])("words: %s", (line, words) => {
    const { words: all } = found(line)
    expect([...all].sort()).toEqual([...words].sort())
  })

  it.each([
    ["deploy ", "project"],
    ["deploy --yes he", "project"],
    ["deploy hello --server ", "server"],
    ["server add x y --key ", "file"],
    ["server remove ", "server"],
    ["app show ", "application"],
    ["app plan hello --app h", "application"],
    ["rollback ", "project"],
    ["rollback hello 1", "release"],
    ["route remove ", "route"],
    ["cancel ", "run"],
    ["runs ", "run"]
  ])("names: %s", (line, names) => {
    expect(found(line)).toMatchObject({ words: [], names })
  })

  it("knows the arguments and options before it, and takes no value for an argument", () => {
    expect(found("rollback --server main hello --path=~/x 1")).toEqual({
      ...none,
      names: "release",
      given: ["hello"],
      options: new Map([["server", "main"], ["path", "~/x"]])
    })
    expect(found("deploy hello more")).toEqual({ ...none, given: ["hello"] })
  })
})
