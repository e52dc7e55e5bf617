import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { capacity } from "../../src/services/limits.ts"

const rows = new Map(
  [...readFileSync("SECURITY.md", "utf8").matchAll(/^\| ([^|]+?) +\| ([^|]+?) +\|$/gm)]
    .map(([, what = "", most = ""]) => [what, most])
)
const count = (number: number) => number.toLocaleString("en-US")
const mebibytes = (bytes: number) => `${bytes / 1024 / 1024} MiB`
const { archive, followers, ownFile, unannounced } = capacity

it.each([
  [
    "Names in an image archive",
    `${count(archive.name)} characters each, ${mebibytes(archive.names)} together; ${count(archive.members)} members`
  ],
  ["Images in it, and their layers", `${count(archive.images)}, and ${count(archive.layers)} together`],
  ["A project's file that is read as a whole", `to be written ${mebibytes(ownFile)}`],
  ["What a pulled file has beyond its size", `${mebibytes(unannounced)} over all files of a pull`],
  [
    "Followed logs and commands on one server",
    `${followers.each} of each for one caller, ${followers.all} of each in all`
  ]
])("SECURITY.md names the limit that is used: %s", (what, most) => {
  expect(rows.get(what)).toContain(most)
})
