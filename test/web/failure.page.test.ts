import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { barriersInColours } from "./axe.ts"
import { deployHello } from "./hello.ts"
import { missing, type OpenPage, openStage, picture, type Stage } from "./stage.ts"

/** In place of the browser's notifications, which nobody sees here. */
const notifications = `window.notices = []
  window.Notification = class extends EventTarget {
    static permission = "default"
    static requestPermission() { window.Notification.permission = "granted"; return Promise.resolve("granted") }
    constructor(title, options) { super(); window.notices.push(title + " | " + options.body) }
  }`

describe.skipIf(missing !== undefined)(`a deploy that does not become healthy ${missing ?? ""}`, () => {
  let stage: Stage
  let open: OpenPage
  beforeAll(async () => {
    stage = await openStage()
    await deployHello(stage)
    const compose = join(stage.world.projects, "hello", "compose.yml")
    await writeFile(compose, (await readFile(compose, "utf8")).replace("- --check", "- /bin/false"))
    open = await stage.open("/servers")
    await open.page.addInitScript(notifications)
    await open.page.goto(`${stage.service.url}/projects/hello`)
  })
  afterAll(() => stage?.close())

  it("tells who asked for it in the browser, wherever that person is on the page", async () => {
    const { page } = open
    await page.getByRole("button", { name: /^Deploy \d changes/ }).click()
    await page.getByRole("dialog").getByRole("button", { name: /^Deploy/ }).click()
    await page.getByRole("button", { name: "Tell me when it ends" }).click()
    await page.getByRole("button", { name: "You will be told" }).waitFor()
    await page.getByRole("link", { name: "Routes", exact: true }).click()
    await page.getByRole("heading", { name: "Routes" }).first().waitFor()
    await expect.poll(() => page.evaluate("window.notices.join()")).toMatch(/^Deploy hello: \w+ \| /)
    expect(await page.evaluate("window.notices.length")).toBe(1)
  })

  it("shows one cause, what stands now and what mends it, and folds what was printed", async () => {
    const { page } = open
    await page.locator(".project-link").filter({ hasText: "hello" }).click()
    const run = page.getByRole("region", { name: "Last deploy" })
    const next = run.getByRole("group", { name: "What to do next" })
    await next.getByRole("link", { name: "Show the log" }).waitFor()
    await next.getByRole("button", { name: "Deploy again" }).waitFor()
    const cause = run.locator(".last-words .strong")
    expect(await cause.count()).toBe(1)
    expect(await cause.textContent()).toMatch(/unhealthy\.$/)
    await run.getByText("Release 1, which ran before, runs again", { exact: false }).waitFor()
    await run.getByText(/^hello: its health check ended with 1: /).waitFor()
    const printed = run.locator(".last-words pre")
    expect(await printed.isVisible()).toBe(false)
    await run.getByText("What was printed").click()
    await printed.getByText(/hello/).waitFor()
    await picture(page, "project-failed")
    expect(await barriersInColours(page)).toEqual([])
    await page.setViewportSize({ width: 390, height: 844 })
    await picture(page, "project-failed-390")
    expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0)
    await run.getByRole("link", { name: "Open the run" }).click()
    await page.getByRole("group", { name: "What to do next" }).getByRole("link", { name: "Show the log" }).waitFor()
    expect(await page.locator(".last-words pre").isVisible()).toBe(false)
    await picture(page, "run-failed-390")
    await page.setViewportSize({ width: 1360, height: 900 })
    await picture(page, "run-failed")
    expect(open.faults).toEqual([])
  })
})
