import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { barriersInColours } from "./axe.ts"
import { deployHello } from "./hello.ts"
import { missing, openStage, picture, type Stage } from "./stage.ts"

/** Samples of the last half hour, without those of five minutes. */
const points = (now: number) =>
  Array.from({ length: 120 }, (_, index) => index).filter((index) => index < 60 || index > 80).map((index) => ({
    at: new Date(now - (119 - index) * 15_000).toISOString(),
    load: { minute: 1 + Math.sin(index / 9), processors: 4 },
    memory: { totalBytes: 8e9, freeBytes: 8e9 - 2e9 - index * 1e7 },
    disks: [],
    containers: ["hello", "greeter"].map((name) => ({
      name,
      service: name,
      cpuPercent: index === 119 ? 12.5 : 40 + 30 * Math.sin(index / 5),
      memoryBytes: 5e7,
      networkBytes: 0,
      blockBytes: 0
    }))
  }))

describe.skipIf(missing !== undefined)(`usage over time ${missing ?? ""}`, () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage()
    await deployHello(stage)
  })
  afterAll(() => stage?.close())

  const openWithPoints = async (path: string) => {
    const opened = await stage.open("/settings")
    await opened.page.route(
      "**/stats/history*",
      (route) => route.fulfill({ json: { everySeconds: 15, points: points(Date.now()) } })
    )
    await opened.page.goto(`${stage.service.url}${path}`)
    return opened
  }

  it.each(
    [
      ["/servers/sandbox", "server", [
        /^Load of Sandbox over the last half hour: \d\.\d\d now, \d\.\d\d on average, 2\.00 at most$/,
        /^Memory of Sandbox over the last half hour: 3\.2 GB now, /,
        /^CPU of all containers on Sandbox over the last half hour: 25\.0 % now, /
      ]],
      ["/projects/hello", "project", [
        /^CPU of hello over the last half hour: 12\.5 % now, \d+\.\d % on average, \d+\.\d % at most$/,
        /^Memory of hello over the last half hour: 50\.0 MB now, /
      ]],
      ["/", "list", [/^CPU of hello over the last half hour: 12\.5 % now, /]]
    ] as const
  )("is drawn at %s with its numbers in words, in light and dark", async (path, name, labels) => {
    const { faults, page } = await openWithPoints(path)
    for (const label of labels) {
      const chart = page.getByRole("img", { name: label }).first()
      await chart.waitFor()
      // The gap parts the line in two.
      expect(await chart.locator("path").getAttribute("d")).toMatch(/^M[^M]+M[^M]+$/)
    }
    for (const [colorScheme, width] of [["light", 1280], ["dark", 1280], ["light", 390]] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0)
      await picture(page, `usage-${name}-${colorScheme}-${width}`)
    }
    expect(await barriersInColours(page)).toEqual([])
    expect(faults).toEqual([])
    await page.context().close()
  })

  it("is sampled for a server that is looked at, and asks only for what is new", async () => {
    const { page } = await stage.open("/servers/sandbox")
    await page.getByRole("img", { name: /^Memory of Sandbox over the last half hour: \d/ }).waitFor()
    const next = await page.waitForRequest((request) => request.url().includes("/stats/history"))
    expect(next.url()).toMatch(/minutes=2$/)
    await page.context().close()
  })
})
