import { describe, expect, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { leaksBetween, type ScriptPart } from "./scriptVariables.ts"

const directory = new URL("../../src/remote/", import.meta.url)
const read = (name: string) => readFileSync(new URL(name, directory), "utf8")
const shared = readdirSync(fileURLToPath(new URL("lib", directory))).filter((name) => name.endsWith(".sh"))
const parts = readdirSync(fileURLToPath(new URL("activation/parts", directory)))
  .filter((name) => name.endsWith(".sh")).map((name) => `activation/parts/${name}`)
const partOf = (name: string): ScriptPart => ({ name, text: read(name) })

describe("the remote scripts", () => {
  it("are what is imported: else \"npm run scripts\" makes it so", () => {
    const generator = fileURLToPath(new URL("../../scripts/inlineScripts.mjs", import.meta.url))
    expect(spawnSync(process.execPath, [generator, "--check"], { encoding: "utf8" }).stdout).toBe("")
  })

  it("define no function twice: a server is sent both, and its shell takes the last one", () => {
    const names = [...shared.map((name) => `lib/${name}`), ...parts].flatMap((name) =>
      read(name).match(/^[a-z_]\w*(?=\(\))/gm) ?? []
    )
    expect(names.length).toBeGreaterThan(10)
    // Scripts that run by themselves bring their own as_root.
    const own = names.filter((name) => name !== "as_root")
    expect(own.filter((name, index) => own.indexOf(name) !== index)).toEqual([])
  })

  it("change no variable of one part of an activation in another one", () => {
    expect(leaksBetween([...["compose", "images", "inspect"].map((name) => `lib/${name}.sh`), ...parts].map(partOf)))
      .toEqual([])
  })

  it("would be caught changing one", () => {
    const [count, list] = ["count=3\nlist\necho \"$count\"\n", "list() {\n  count=$(ls | wc -l)\n}\n"]
    const leaks = (text: string) => leaksBetween([{ name: "one", text }, { name: "two", text: list }])
    expect(leaks(count)).toEqual(["one: commands: $count is changed by two"])
    expect(leaks(count.replace("\nlist", "\nfound=$(list)"))).toEqual([])
    expect(leaks(count.replace("\necho", "\ncount=4\necho"))).toEqual([])
  })
})
