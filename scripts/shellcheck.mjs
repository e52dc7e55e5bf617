// Checks every shell script of the project with shellcheck, where that is installed.
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parse } from "yaml"

const files = spawnSync("git", ["ls-files", "-co", "--exclude-standard"], { encoding: "utf8" }).stdout.split("\n")
// Sourced parts are checked within their program: they are incomplete by themselves.
const isSourced = (file) => /\/(lib|parts)\//.test(file)
const isShell = (file) => {
  if (file.endsWith(".sh")) return !isSourced(file)
  return /^(\.ci\/|src\/sandbox\/stand-ins\/)/.test(file) && /^#!.*\b(ba)?sh\b/.test(readFileSync(file, "utf8"))
}

// The scripts of the action's steps. An expression in a script would be replaced by text that the shell then runs.
const extracted = mkdtempSync(join(tmpdir(), "berth-shellcheck-"))
const steps = parse(readFileSync("action.yml", "utf8")).runs.steps.map(({ name, run }) => {
  if (run.includes("${{")) {
    throw new Error(`action.yml: the script of "${name}" holds an expression: pass it as a variable`)
  }
  const file = join(extracted, `${name.replaceAll(" ", "-")}.sh`)
  writeFileSync(file, `#!/usr/bin/env bash\n${run}`)
  return file
})
const scripts = ["--check-sourced", ...files.filter(isShell), ...steps]
const { error, status } = spawnSync("shellcheck", scripts, { stdio: "inherit" })
rmSync(extracted, { recursive: true, force: true })
const isMissing = error?.code === "ENOENT"
if (isMissing) console.error("shellcheck is not installed, so the shell scripts were not checked")
process.exitCode = isMissing && !process.env.BERTH_REQUIRE_REAL ? 0 : status ?? 1
