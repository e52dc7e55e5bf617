import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { deployHello, upsertHello } from "./hello.ts"
import { missing, openStage, picture, settled, type Stage } from "./stage.ts"

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")
const violations = `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
  violations.map(({ help, id, nodes }) => id + ": " + help + " at " + nodes.slice(0, 3).map(({ html }) => html).join(" ")))`

const looks = [["light", 1280, 900], ["dark", 1280, 900], ["light", 390, 844], ["dark", 390, 844]] as const

const screens: ReadonlyArray<readonly [name: string, path: string]> = [
  ["overview", "/"],
  ["project", "/projects/hello"],
  ["project-unready", "/projects/notes"],
  ["activity", "/activity"],
  ["run", "/activity/{run}"],
  ["servers", "/servers"],
  ["server", "/servers/sandbox"],
  ["applications", "/applications"],
  ["application", "/applications/hello/hello"],
  ["application-live", "/applications/{greeter}"],
  ["routes", "/routes"],
  ["webhooks", "/webhooks"],
  ["nowhere", "/no/such/screen"]
]

describe.skipIf(missing !== undefined)(`every screen ${missing ?? ""}`, () => {
  let stage: Stage
  const ids = { run: "", greeter: "" }
  beforeAll(async () => {
    stage = await openStage()
    ids.run = await deployHello(stage)
    await upsertHello(stage)
    const greeter = /"uuid":"([^"]+)"/.exec(await stage.ask("GET", "/api/platform/apps/find/greeter"))
    ids.greeter = greeter?.[1] ?? ""
  })
  afterAll(() => stage?.close())

  it.each(screens)("%s can be used by everybody, keeps to itself, and fits on every screen", async (name, path) => {
    const { faults, page } = await stage.open(path.replace("{run}", ids.run).replace("{greeter}", ids.greeter))
    await settled(page)
    await page.evaluate(axe)
    const found: Array<string> = []
    for (const [colorScheme, width, height] of looks) {
      await page.setViewportSize({ width, height })
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
      await settled(page)
      const overflow = Number(await page.evaluate("document.documentElement.scrollWidth - innerWidth"))
      if (overflow > 0) found.push(`${width}: is ${overflow} px too wide`)
      const broken = await page.evaluate(violations)
      found.push(...(Array.isArray(broken) ? broken : []).map((each) => `${colorScheme} ${width}: ${String(each)}`))
      await picture(page, `${name}-${colorScheme}-${width}`)
    }
    expect(found).toEqual([])
    expect(faults).toEqual([])
    await page.context().close()
  })
})
