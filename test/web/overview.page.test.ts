import { mkdir, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { deployHello, upsertHello } from "./hello.ts"
import { missing, type OpenPage, openStage, picture, rewriteAnswers, type Stage } from "./stage.ts"

const many = 1_000

/** Intervals between frames during scrolling, in milliseconds, ascending. */
const frames = `new Promise((resolve) => {
  const frame = document.querySelector(".grid-body")
  const gaps = []
  let last = performance.now()
  const next = (now) => {
    gaps.push(now - last)
    last = now
    frame.scrollTop += 120
    if (gaps.length < 90) requestAnimationFrame(next)
    else resolve(gaps.sort((a, b) => a - b))
  }
  requestAnimationFrame(next)
})`

describe.skipIf(missing !== undefined)(`the overview ${missing ?? ""}`, () => {
  let stage: Stage
  let open: OpenPage
  beforeAll(async () => {
    stage = await openStage()
    await deployHello(stage)
    await upsertHello(stage)
    open = await stage.open("/")
  })
  afterAll(() => stage?.close())

  it("says what needs care with the next action, how everything stands, and when it was seen", async () => {
    const { page } = open
    const care = page.getByRole("region", { name: "Needs care" })
    await care.getByRole("link", { name: "See the differences" }).waitFor()
    await care.getByText(/^seen /).first().waitFor()
    const hello = page.getByRole("row").filter({ has: page.getByRole("link", { name: "hello", exact: true }) })
    await hello.getByText("running · 1 of 1 up").waitFor()
    await hello.getByText("2 changes").waitFor()
    // The checks are one line while all are well.
    const checks = page.getByRole("region", { name: "What Berth depends on" })
    await checks.getByText(/^\d+ checks well$/).click()
    await checks.getByText("settings", { exact: true }).waitFor()
    await care.getByRole("link", { name: "See the differences" }).click()
    await page.getByRole("heading", { name: "hello" }).waitFor()
    await page.goBack()
  })

  it("tells what nobody has set up from what is not well", async () => {
    const { page } = await stage.open("/servers")
    await rewriteAnswers(page, "**/api/health?deep=true", async (route) => {
      const response = await route.fetch()
      const { dependencies, ...health } = await response.json()
      const line = (name: string, setUp?: false) => ({ name, ok: false, detail: "it is not there", fix: "Look", setUp })
      await route.fulfill({
        response,
        json: { ...health, dependencies: [...dependencies, line("an attic", false), line("a cellar")] }
      })
    })
    await page.getByRole("link", { name: "Overview" }).click()
    const lines = page.getByRole("region", { name: "What Berth depends on" }).getByRole("listitem")
    await lines.filter({ hasText: "an attic" }).getByText("is not set up").waitFor()
    await lines.filter({ hasText: "a cellar" }).getByText("is not well").waitFor()
    await page.context().close()
  })

  it("calls no route broken because its application is not created yet", async () => {
    const { page } = await stage.open("/servers")
    await rewriteAnswers(page, "**/api/overview", async (route) => {
      const response = await route.fetch()
      const body = await response.json()
      const applications = body.applications.map((application: object) => ({
        ...application,
        uuid: null,
        error: undefined
      }))
      await route.fulfill({ response, json: { ...body, applications } })
    })
    await rewriteAnswers(page, "**/api/platform/routes", async (route) => {
      const response = await route.fetch()
      const body = await response.json()
      const applications = [{ appName: "hello", projectPath: join(stage.world.projects, "hello") }]
      const listed = body.routes.map((each: object) => ({ ...each, applications }))
      await route.fulfill({ response, json: { ...body, routes: listed } })
    })
    await page.goto(`${stage.service.url}/routes`)
    const routes = page.getByRole("listitem").filter({ hasText: "greeter.sandbox.test" })
    await routes.getByText("not created yet").first().waitFor()
    expect(await routes.getByText("does not lead to it").count()).toBe(0)
    await page.context().close()
  })

  it("goes anywhere from the keyboard", async () => {
    const { page } = open
    await page.getByRole("heading", { name: "Overview" }).waitFor()
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox").fill("he")
    await page.getByRole("option").first().waitFor()
    await picture(page, "palette")
    await page.keyboard.press("Enter")
    await page.waitForURL("**/projects/hello")
    await page.keyboard.press("Control+k")
    await page.keyboard.press("Escape")
    expect(await page.getByRole("dialog").count()).toBe(0)
  })

  it("keeps the colours that were chosen", async () => {
    const { page } = await stage.open("/servers", { colorScheme: "light" })
    await page.getByRole("button", { name: "Dark colours" }).click()
    await page.reload()
    await page.getByRole("button", { name: "Light colours" }).waitFor()
    await page.context().close()
  })

  it("stays smooth with a thousand projects", async () => {
    for (let number = 0; number < many; number++) {
      const directory = join(stage.world.projects, `many-${String(number).padStart(4, "0")}`)
      await mkdir(directory)
      await writeFile(join(directory, "Dockerfile"), "FROM scratch\n")
    }
    const { faults, page } = await stage.open("/")
    await page.getByText(`${(many + 2).toLocaleString("en")} projects`).waitFor()
    expect(await page.getByRole("row").count()).toBeLessThan(60)
    expect(await page.locator(".project-link").count()).toBeLessThan(80)
    // Projects that are not set up are folded.
    await page.getByRole("button", { name: /^Not set up/ }).click()
    await page.getByRole("row").filter({ hasText: "many-0003" }).waitFor()
    const gaps = await page.evaluate(frames)
    const sorted = Array.isArray(gaps) ? gaps.map(Number) : []
    const median = sorted[Math.floor(sorted.length / 2)] ?? Infinity
    process.stdout.write(`frames of a scrolled list of ${many} projects: median ${median.toFixed(0)} ms\n`)
    expect(median).toBeLessThan(150)
    await page.keyboard.press("/")
    await page.keyboard.type("many-0777")
    await page.getByRole("row").filter({ hasText: "many-0777" }).waitFor()
    // The columns, the group and the project.
    expect(await page.getByRole("row").count()).toBe(3)
    expect(faults).toEqual([])
    await page.context().close()
    await rm(join(stage.world.projects, "many-0001"), { recursive: true })
  })

  it("says that the service does not answer, and that what it shows is stale", async () => {
    const { page } = await stage.open("/")
    await page.getByRole("heading", { name: "Overview" }).waitFor()
    await page.route("**/api/**", (route) => route.abort())
    await page.getByText(/What is shown here is stale/).waitFor()
    await picture(page, "offline")
    await page.unroute("**/api/**")
    // It is asked again by itself, every two seconds.
    await page.getByText(/What is shown here is stale/).waitFor({ state: "detached" })
    await page.context().close()
  })

  it("has kept to itself all along", () => {
    expect(open.faults).toEqual([])
  })
})
