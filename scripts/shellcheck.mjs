// Checks every shell script of the project with shellcheck, where that is installed.
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"

const files = spawnSync("git", ["ls-files", "-co", "--exclude-standard"], { encoding: "utf8" }).stdout.split("\n")
// Sourced parts are checked within their program: they are incomplete by themselves.
const isSourced = (file) => /\/(lib|parts)\//.test(file)
const isShell = (file) => {
  if (file.endsWith(".sh")) return !isSourced(file)
  return /^(\.ci\/|src\/sandbox\/stand-ins\/)/.test(file) && /^#!.*\b(ba)?sh\b/.test(readFileSync(file, "utf8"))
}
const { error, status } = spawnSync("shellcheck", ["--check-sourced", ...files.filter(isShell)], { stdio: "inherit" })
const isMissing = error?.code === "ENOENT"
if (isMissing) console.error("shellcheck is not installed, so the shell scripts were not checked")
process.exitCode = isMissing && !process.env.BERTH_REQUIRE_REAL ? 0 : status ?? 1
