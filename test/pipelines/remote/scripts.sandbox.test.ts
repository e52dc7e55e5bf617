import { describe, expect, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const directory = new URL("../../../src/pipelines/remote/scripts/", import.meta.url)
const read = (name: string) => readFileSync(new URL(name, directory), "utf8")
const shared = readdirSync(fileURLToPath(new URL("lib", directory))).filter((name) => name.endsWith(".sh"))
const activation = ["prepare", "restore", "failed", "tell", "load", "start", "prune", "release"]

describe("the remote scripts", () => {
  it("are what is imported: else \"npm run scripts\" makes it so", () => {
    const generator = fileURLToPath(new URL("../../../scripts/inlineScripts.mjs", import.meta.url))
    expect(spawnSync(process.execPath, [generator, "--check"], { encoding: "utf8" }).stdout).toBe("")
  })

  it("define each shared function once: of two the shell takes the last one, and a server is sent both", () => {
    const names = shared.flatMap((name) => read(`lib/${name}`).match(/^\w+(?=\(\) )/gm) ?? [])
    expect(names.filter((name) => name !== "as_root").toSorted()).toEqual([
      "compose",
      "deploy_revision",
      "find_compose",
      "inspect",
      "known_compose",
      "leaving",
      "list_images",
      "name_ids",
      "numbers",
      "prefix_here",
      "remove_image",
      "take_lock",
      "time_of"
    ])
  })

  it("have no variable in two parts of an activation but those that carry something over, or nothing for long", () => {
    const assigned = (script: string) =>
      new Set([...script.matchAll(/(?<![\w$"'-])([a-z_]+)=/g)].map(([, name = ""]) => name))
    const all = [
      ["lib/compose.sh", "lib/images.sh", "lib/inspect.sh"],
      ...activation.map((name) => [`lib/activation/${name}.sh`])
    ]
      .map((files) => assigned(files.map(read).join("").replace(/^\s*#.*$/gm, "")))
    const often = [...new Set(all.flatMap((names) => [...names]))].filter((name) =>
      all.filter((names) => names.has(name)).length > 1
    )
    expect(often.toSorted()).toEqual(["compose_kind", "compose_version", "ids", "is", "old", "said"])
  })
})
