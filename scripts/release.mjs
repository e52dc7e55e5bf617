// Makes a release: npm run release -- 3.1.0 [--no-package]. Writes the version and the changelog, builds and packs, commits, tags.
// Keeps all on this machine: push the commit and the tag by hand.
import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"

const git = (...args) => execFileSync("git", args, { encoding: "utf8" }).trim()
const npm = (...args) => execFileSync("npm", args, { stdio: "inherit", shell: process.platform === "win32" })

const fail = (reason) => {
  console.error(reason)
  process.exit(1)
}

const [version = "", ...options] = process.argv.slice(2)
const parts = (text) => text.split(".").map(Number)
const isNewer = (next, current) => {
  const [a, b] = [parts(next), parts(current)]
  const at = a.findIndex((part, index) => part !== b[index])
  return at >= 0 && a[at] > b[at]
}

const { version: current } = JSON.parse(readFileSync("package.json", "utf8"))
if (!/^\d+\.\d+\.\d+$/.test(version)) fail("Name the new version: npm run release -- 3.1.0")
if (!isNewer(version, current)) fail(`${version} is not newer than ${current}`)
if (git("status", "--porcelain") !== "") fail("Commit or stash your changes first: a release is one commit")
const tag = `v${version}`
if (git("tag", "--list", tag) !== "") fail(`The tag ${tag} exists already`)

const unreleased = "## Unreleased\n"
const changelog = readFileSync("CHANGELOG.md", "utf8")
const [, entries = ""] = changelog.split(unreleased)
if (entries.split(/^## /m)[0].trim() === "") fail("CHANGELOG.md has nothing under \"Unreleased\"")

const today = new Date().toISOString().slice(0, 10)
const edits = [
  ["CHANGELOG.md", unreleased, `${unreleased}\n## ${version} (${today})\n`],
  ["src/schema/session.ts", `"${current}"`, `"${version}"`],
  ...["README.md", "docs/commands.md"].map((page) => [page, `berth-${current}.tgz`, `berth-${version}.tgz`]),
  ["docs/scripts.md", `berth-pipelines-${current}.tgz`, `berth-pipelines-${version}.tgz`]
].map(([file, before, after]) => ({ file, before, after, text: readFileSync(file, "utf8") }))
// Write all files or none.
for (const { before, file, text } of edits) {
  if (!text.includes(before)) fail(`${file} does not contain ${JSON.stringify(before)}: nothing was changed`)
}

try {
  for (const { after, before, file, text } of edits) writeFileSync(file, text.replaceAll(before, after))
  npm("version", version, "--no-git-tag-version")
  // A version that cannot be built is neither committed nor tagged.
  if (!options.includes("--no-package")) {
    npm("pack")
    npm("pack", "./dist/berth-pipelines")
  }
} catch (error) {
  git("restore", ".")
  fail(`${error.message}. Nothing was released: all files are as they were`)
}
git("commit", "--all", "--message", `Release ${version}`)
git("tag", "--annotate", tag, "--message", `Version ${version}`)
console.log(`Released ${version}: git push && git push origin ${tag}`)
