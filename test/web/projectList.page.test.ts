import type { Locator } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { barriersInColours } from "./axe.ts"
import { deployHello } from "./hello.ts"
import { missing, openStage, picture, rewriteAnswers, type Stage } from "./stage.ts"

describe.skipIf(missing !== undefined)(`the list of projects ${missing ?? ""}`, () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage()
    await deployHello(stage)
  })
  afterAll(() => stage?.close())

  it("lists projects by what they need, with server, link, last run and changes, and asks before it deploys", async () => {
    const { faults, page } = await stage.open("/")
    const rows = page.getByRole("table", { name: "Projects" })
    for (const group of ["To deploy", "Not set up"]) {
      await rows.getByRole("button", { name: new RegExp(`^${group}`) }).waitFor()
    }
    expect(await rows.getByRole("button", { name: /^Not set up/ }).getAttribute("aria-expanded")).toBe("false")
    expect(await rows.getByRole("link", { name: "notes", exact: true }).count()).toBe(0)
    const hello = rows.getByRole("row").filter({ has: page.getByRole("link", { name: "hello", exact: true }) })
    await hello.getByText("Sandbox", { exact: true }).waitFor()
    await hello.getByRole("link", { name: "127.0.0.1:2008" }).waitFor()
    await hello.getByRole("link", { name: "deploy succeeded" }).waitFor()
    // Each row is a grid of its own: its cells stay below the names of their columns.
    const lefts = async (row: Locator, role: "cell" | "columnheader") =>
      Promise.all((await row.getByRole(role).all()).map(async (cell) => (await cell.boundingBox())?.x))
    expect(await lefts(hello, "cell")).toEqual(await lefts(rows.locator(".grid-head"), "columnheader"))
    await hello.hover()
    await hello.getByRole("button", { name: "Deploy hello" }).click()
    const dialog = page.getByRole("dialog", { name: "Deploy hello to Sandbox?" })
    await dialog.getByText("compose.yml").first().waitFor()
    await dialog.getByRole("button", { name: "Leave it" }).click()
    await hello.getByRole("button", { name: "More for hello" }).click()
    const restart = page.getByRole("button", { name: "Restart", exact: true })
    await restart.waitFor()
    expect(await barriersInColours(page)).toEqual([])
    await picture(page, "overview-more")
    // It opens towards the side with more room.
    for (const height of [900, 500]) {
      await page.keyboard.press("Escape")
      await page.setViewportSize({ width: 1280, height })
      const more = hello.getByRole("button", { name: "More for hello" })
      await more.scrollIntoViewIfNeeded()
      await more.click()
      await restart.waitFor()
      const [button, list] = [await more.boundingBox(), await page.locator(".menu-list:popover-open").boundingBox()]
      if (button === null || list === null) throw new Error("The menu is not there")
      expect(list.y > button.y).toBe(button.y <= height / 2)
      expect(list.y).toBeGreaterThanOrEqual(0)
      expect(list.y + list.height).toBeLessThanOrEqual(height)
    }
    await page.getByRole("button", { name: "See the changes" }).click()
    await page.waitForURL("**/projects/hello/changes")
    expect(faults).toEqual([])
    await page.context().close()
  })

  it("puts a project where it belongs, broken ones first, and leads to it from the whole row", async () => {
    const { page } = await stage.open("/servers")
    await rewriteAnswers(page, "**/api/overview", async (route) => {
      const response = await route.fetch()
      const body = await response.json()
      const change = ({ name, ...project }: { readonly name: string }) =>
        name === "hello" ? { name, ...project, state: "degraded" } : { name, ...project }
      await route.fulfill({ response, json: { ...body, projects: body.projects.map(change) } })
    })
    await page.goto(`${stage.service.url}/`)
    await page.getByRole("button", { name: /^Broken 1/ }).waitFor()
    const row = page.getByRole("row").filter({ has: page.getByRole("link", { name: "hello", exact: true }) })
    await row.getByText("Sandbox", { exact: true }).waitFor()
    await row.click({ position: { x: 320, y: 12 } })
    await page.waitForURL("**/projects/hello")
    await page.context().close()
  })

  it("shows CPU, memory and disk of each server, and restarts several projects after a question", async () => {
    const { page } = await stage.open("/")
    const tile = page.getByRole("region", { name: "Servers" }).getByRole("listitem").filter({ hasText: "Sandbox" })
    for (const what of ["CPU", "Memory", "Disk"]) {
      await tile.getByRole("progressbar", { name: new RegExp(`^${what} of Sandbox`) }).first().waitFor()
    }
    const row = page.getByRole("row").filter({ has: page.getByRole("link", { name: "hello", exact: true }) })
    await row.hover()
    await row.getByRole("checkbox", { name: "Choose hello" }).check()
    const bar = page.getByRole("toolbar", { name: "Chosen projects" })
    await bar.getByText("1 project chosen").waitFor()
    await bar.getByRole("button", { name: "Deploy them" }).click()
    await page.getByRole("dialog").getByText("2 changes").waitFor()
    expect(await barriersInColours(page)).toEqual([])
    await picture(page, "overview-bulk")
    await page.getByRole("dialog").getByRole("button", { name: "Leave it" }).click()
    await bar.getByRole("button", { name: "Restart them" }).click()
    await page.getByRole("dialog").getByText("is restarted").waitFor()
    await page.getByRole("dialog").getByRole("button", { name: "Restart them" }).click()
    await bar.waitFor({ state: "detached" })
    await expect.poll(async () => JSON.parse(await stage.ask("GET", "/api/runs?limit=1")).runs[0])
      .toMatchObject({ kind: "stack", state: "succeeded", subject: { action: "restart" } })
    await page.context().close()
  })

  it("starts each chosen project once, and keeps only those that could not be started", async () => {
    const { page } = await stage.open("/")
    let release = () => {}
    const planned = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route("**/api/container/plan", async (route) => {
      await planned
      await route.continue()
    })
    const asked: Array<string> = []
    await page.route("**/api/container/deploy", (route) => {
      asked.push(route.request().method())
      return route.fulfill({ status: 409, json: { success: false, error: "Something has moved since the plan" } })
    })
    const row = page.getByRole("row").filter({ has: page.getByRole("link", { name: "hello", exact: true }) })
    await row.getByText("Sandbox", { exact: true }).waitFor()
    await row.hover()
    await row.getByRole("checkbox", { name: "Choose hello" }).check()
    await page.getByRole("toolbar", { name: "Chosen projects" }).getByRole("button", { name: "Deploy them" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByText("is being planned").waitFor()
    expect(await dialog.getByRole("button", { name: "Planning …" }).isDisabled()).toBe(true)
    release()
    await dialog.getByText("2 changes").waitFor()
    await dialog.getByRole("button", { name: "Deploy them" }).dblclick()
    await dialog.getByText("was not started: Something has moved since the plan").waitFor()
    await page.getByRole("dialog", { name: "1 project could not be started" }).waitFor()
    expect(asked).toEqual(["POST"])
    await dialog.getByRole("button", { name: "Leave it" }).click()
    await page.getByText("1 project chosen").waitFor()
    await page.context().close()
  })

  it("shows everything on a telephone too, states in words, and no hints of keys", async () => {
    const { page } = await stage.open("/", { viewport: { width: 390, height: 844 } })
    const row = page.getByRole("row").filter({ has: page.getByRole("link", { name: "hello", exact: true }) })
    for (const shown of ["running · 1 of 1 up", "Sandbox", "2 changes"]) {
      await row.getByText(shown).first().waitFor({ state: "visible" })
    }
    expect(await page.locator("kbd:visible").count()).toBe(0)
    await page.context().close()
  })

  it("does what a verb says, after its question", async () => {
    const { page } = await stage.open("/")
    await page.getByRole("table", { name: "Projects" }).waitFor()
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox").fill("deploy hello")
    await page.getByRole("option", { name: "deploy hello" }).waitFor()
    await page.keyboard.press("Enter")
    await page.getByRole("dialog", { name: "Deploy hello to Sandbox?" }).waitFor()
    await page.keyboard.press("Escape")
    // So low that the log is out of sight until it is scrolled to.
    await page.setViewportSize({ width: 1280, height: 360 })
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox").fill("logs hello")
    await page.getByRole("option", { name: "logs hello" }).waitFor()
    await page.keyboard.press("Enter")
    await page.waitForURL("**/projects/hello#log")
    const inSight = "document.querySelector('#log')?.getBoundingClientRect().top < innerHeight - 60"
    const toLog = () => expect.poll(() => page.evaluate(inSight)).toBe(true)
    await toLog()
    // And so on the project's own screen, where only the part of the address behind the # changes.
    await page.goto(`${stage.service.url}/projects/hello`)
    await page.getByRole("log").waitFor()
    expect(await page.evaluate(inSight)).toBe(false)
    await page.keyboard.press("Control+k")
    await page.getByRole("dialog").getByRole("combobox").fill("logs hello")
    await page.getByRole("option", { name: "logs hello" }).waitFor()
    await page.keyboard.press("Enter")
    await toLog()
    await page.context().close()
  })

  it("tells of a run under way in the tab's title and icon", async () => {
    const { page } = await stage.open("/no/such/screen")
    await rewriteAnswers(page, "**/api/runs?*", async (route) => {
      const response = await route.fetch()
      const body = await response.json()
      const runs = body.runs.map((run: object, index: number) => index === 0 ? { ...run, state: "running" } : run)
      await route.fulfill({ response, json: { ...body, runs } })
    })
    await page.goto(`${stage.service.url}/servers`)
    await expect.poll(() => page.title()).toMatch(/^● \w+ .*Servers · Berth$/)
    expect(await page.locator("link[rel=icon]").getAttribute("href")).toMatch(/^data:image\/svg/)
    await page.unroute("**/api/runs?*")
    await page.reload()
    await expect.poll(() => page.title()).toBe("Servers · Berth")
    expect(await page.locator("link[rel=icon]").getAttribute("href")).toMatch(/\/assets\//)
    await page.context().close()
  })

  it("keeps the filters of the history in the address, by project too", async () => {
    const { page } = await stage.open("/activity?project=hello&kind=deploy")
    await page.getByRole("link", { name: "Deploy hello" }).first().waitFor()
    expect(await page.getByRole("combobox", { name: "Project" }).inputValue()).toBe("hello")
    expect(await page.getByRole("combobox", { name: "Kind" }).inputValue()).toBe("deploy")
    await page.getByRole("combobox", { name: "State" }).selectOption("failed")
    await page.waitForURL(/project=hello&kind=deploy&state=failed/)
    await page.getByText("No run fits this filter.").waitFor()
    await page.goBack()
    await page.getByRole("link", { name: "Deploy hello" }).first().waitFor()
    // The history is asked only when the directory of the project is known.
    const asked: Array<string | null> = []
    await page.route("**/api/runs?*", (route) => {
      const query = new URL(route.request().url()).searchParams
      if (query.has("kind")) asked.push(query.get("projectPath"))
      return route.continue()
    })
    await page.reload()
    await page.getByRole("link", { name: "Deploy hello" }).first().waitFor()
    expect(asked).toEqual([`${stage.world.projects}/hello`])
    await page.context().close()
  })
})
