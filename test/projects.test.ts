import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import { storeSuites } from "./fixtures/engines/engine.ts"

const root = fileURLToPath(new URL(".", import.meta.url))
const files = readdirSync(root, { recursive: true, encoding: "utf8" })
  .map((name) => name.replaceAll("\\", "/"))
  .filter((name) => name.endsWith(".test.ts") && !name.startsWith("faults/"))

// Features that a file uses, which determine the ending that its name needs.
const needsBrowser = /from "(playwright-core|\.\/stage\.ts)"/
const needsReal =
  /from ".*\/fixtures\/(?:network\/(openssh|servers)|docker\/docker|runs\/(postgres|faultStage)|docker\/realProject)\.ts"/
const needsSandbox = [
  /from "node:(child_process|net|http)"/,
  /^import (?!type).* from ".*\/layers\/(RemoteHere|worlds\/(wireWorld|vendorWorld))\.ts"/m,
  /\b(startService|confinedService|makeWorld|makeSshServer|spawnBerth|startBerth)\b/
]

/** The endings that a test's name may have. */
const endings = (text: string): ReadonlyArray<string> =>
  needsBrowser.test(text)
    ? [".page.test.ts"]
    : needsReal.test(text)
    ? [".real.test.ts", ".worlds.test.ts"]
    : needsSandbox.some((need) => need.test(text))
    ? [".sandbox.test.ts", ".scenario.test.ts"]
    : [".test.ts"]

it("each test is named after what it needs, so that it runs in the project for that", () => {
  const misnamed = files.filter((name) => name !== "projects.test.ts").flatMap((name) => {
    const wanted = endings(readFileSync(join(root, name), "utf8"))
    return wanted.some((ending) => name.endsWith(ending))
      ? []
      : [`${name}: its name has to end in ${wanted.join(" or ")}`]
  })
  expect(misnamed).toEqual([])
})

it("each suite that runs on further engines is there", () => {
  expect(Object.values(storeSuites).flat().filter((name) => !files.includes(name.slice("test/".length)))).toEqual([])
})
