import { readFile } from "node:fs/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { barriersInColours } from "./axe.ts"
import { deployHello } from "./hello.ts"
import { missing, type OpenPage, openStage, picture, type Stage } from "./stage.ts"

const event = (name: string, data: unknown) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
const line = (project: string, service: string, time: string, text: string) =>
  event("line", { project, service, time, stream: "stdout", text })

const json = `{"level":"error","msg":"payment refused","order":{"id":17}}`
// Out of order, as two servers answer. In New York, midnight is between the first and the second of them.
const body = [
  line("shop", "web", "2026-01-02T05:00:00.500Z", "GET /orders 200"),
  line("hello", "web", "2026-01-02T03:30:00.000Z", "level=warn disk nearly full"),
  line("shop", "worker", "2026-01-02T05:00:01.000Z", json),
  line("shop", "web", "2026-01-02T05:00:02.000Z", `DEBUG cache of orders ${"long ".repeat(60)}`),
  line("hello", "web", "2026-01-02T05:00:03.000Z", "GET /Orders 500 <b>ERROR</b>"),
  event("dropped", { project: "shop", lines: 7 }),
  event("unavailable", { project: "notes", error: "There is no stack at ~/containers/notes" }),
  // Without an end, the page would ask again.
  event("end", {})
].join("")

describe.skipIf(missing !== undefined)(`the screen of logs ${missing ?? ""}`, () => {
  let stage: Stage
  let open: OpenPage
  const asked: Array<URLSearchParams> = []
  beforeAll(async () => {
    stage = await openStage()
    await deployHello(stage)
    open = await stage.open("/", { timezoneId: "America/New_York", permissions: ["clipboard-read", "clipboard-write"] })
    await open.page.route("**/logs/follow?*", (route) => {
      const query = new URL(route.request().url()).searchParams
      asked.push(query)
      return route.fulfill({ contentType: "text/event-stream", body })
    })
  })
  afterAll(() => stage?.close())

  const log = () => open.page.getByRole("log")
  const texts = () => log().locator(".log-text").allTextContents()
  const show = async (query: string) => {
    await open.page.goto(`${stage.service.url}/logs${query}`)
    await log().locator(".log-line").first().waitFor()
    // The last event before the end: by then each line has arrived.
    await open.page.getByText("notes: There is no stack at ~/containers/notes").waitFor()
  }
  const inAddress = (name: string, value: string | null) =>
    expect.poll(() => new URL(open.page.url()).searchParams.get(name)).toBe(value)

  it("begins with a choice of projects, kept in the address", async () => {
    await open.page.goto(`${stage.service.url}/logs`)
    await open.page.getByText("No project is chosen").waitFor()
    await open.page.getByRole("button", { name: /^hello/ }).click()
    await log().locator(".log-line").first().waitFor()
    await inAddress("project", "hello")
    expect(asked.at(-1)?.getAll("project")).toEqual(["hello"])
  })

  it("shows lines by their times in the zone of the browser, with a rule between days and a mark for the deploy", async () => {
    await show("?project=hello&project=shop")
    expect(asked.at(-1)?.getAll("project")).toEqual(["hello", "shop"])
    await log().getByRole("link", { name: /^deploy by / }).waitFor()
    const rows = await log().locator(".log-rule, .log-line").allTextContents()
    expect(rows.map((row) => row.slice(0, 40))).toEqual([
      "Thursday, 1 January 2026",
      expect.stringMatching(/^22:30:00\.000hello\/web/),
      "Friday, 2 January 2026",
      expect.stringMatching(/^00:00:00\.500shop\/web/),
      expect.stringMatching(/^00:00:01\.000shop\/worker/),
      expect.stringMatching(/^00:00:02\.000shop\/web/),
      expect.stringMatching(/^00:00:03\.000hello\/web/),
      expect.stringMatching(/^shop7 lines came faster/),
      expect.stringMatching(/^\w+day, \d+ \w+ 20\d\d$/),
      expect.stringMatching(/^\d\d:\d\d:\d\d\.\d{3}deploy by /)
    ])
    const title = await log().getByTitle(/2026-01-01 22:30:00/).getAttribute("title")
    expect(title).toContain("America/New_York (UTC-05:00)")
    await open.page.getByText("notes: There is no stack at ~/containers/notes").waitFor()
    expect(await log().locator("b").count()).toBe(0)
  })

  it("is filtered by service, level and text, in the address", async () => {
    await show("?project=hello&project=shop")
    await open.page.getByLabel("Service").selectOption("shop/web")
    await expect.poll(async () => (await texts()).length).toBe(2)
    await inAddress("service", "shop/web")
    await open.page.getByLabel("Service").selectOption("")
    await open.page.getByLabel("Level").selectOption("warn")
    await expect.poll(async () => (await texts()).length).toBe(4)
    await open.page.getByLabel("Filter the log").fill("orders")
    await inAddress("q", "orders")
    await open.page.reload()
    await open.page.getByText("1 of 6 lines").waitFor()
    expect(await open.page.getByLabel("Level").inputValue()).toBe("warn")
    await open.page.getByLabel("Since").selectOption("1h")
    await expect.poll(() => asked.at(-1)?.get("since")).toBe("1h")
    await open.page.getByRole("button", { name: "Whole log" }).click()
    await expect.poll(() => asked.at(-1)?.get("contains")).toBe("orders")
  })

  it("leads from hit to hit among all lines, and marks them", async () => {
    await show("?project=hello&project=shop&q=orders&show=all")
    await open.page.getByText("– of 3 hits").waitFor()
    expect((await texts()).length).toBe(6)
    expect(await log().locator("mark").allTextContents()).toEqual(["orders", "orders", "Orders"])
    await open.page.getByRole("button", { name: "Next hit" }).click()
    await open.page.getByText("1 of 3 hits").waitFor()
    await open.page.getByLabel("Filter the log").press("Shift+Enter")
    await open.page.getByText("3 of 3 hits").waitFor()
    expect(await log().locator(".log-line.current .log-text").allTextContents()).toEqual([
      expect.stringContaining("/Orders 500")
    ])
  })

  it("unfolds JSON, one line or all of them, and breaks long lines", async () => {
    await show("?project=hello&project=shop")
    await log().getByRole("button", { name: "Unfold the JSON" }).click()
    expect(await log().locator(".log-json").textContent()).toBe(JSON.stringify(JSON.parse(json), null, 2))
    await log().getByRole("button", { name: "Fold the JSON", exact: true }).click()
    await open.page.getByRole("button", { name: "JSON", exact: true }).click()
    await log().locator(".log-json").waitFor()
    await inAddress("json", "1")
    const long = log().locator(".log-line", { hasText: "cache of orders" })
    const before = (await long.boundingBox())?.height ?? 0
    await open.page.getByRole("button", { name: "Wrap" }).click()
    await expect.poll(async () => (await long.boundingBox())?.height ?? 0).toBeGreaterThan(before)
  })

  it("copies a link to a line, which leads to it again", async () => {
    await show("?project=hello&project=shop&level=warn")
    await log().getByTitle(/2026-01-02 00:00:01/).click()
    const copied = await expect.poll(() => open.page.evaluate("navigator.clipboard.readText()"))
      .toContain("at=2026-01-02T05")
      .then(() => open.page.evaluate("navigator.clipboard.readText()"))
    await open.page.goto(String(copied))
    await log().locator(".log-line.current").getByText("payment refused").waitFor()
    expect(asked.at(-1)?.get("since")).toBe("2026-01-02T04:59:01.000Z")
    expect(asked.at(-1)?.get("until")).toBe("2026-01-02T05:10:01.000Z")
    await open.page.getByRole("button", { name: "Show the latest lines" }).click()
    await inAddress("at", null)
  })

  it("shows the link to copy by hand where the browser does not copy", async () => {
    await show("?project=hello&project=shop&level=warn")
    await open.page.evaluate(`(() => {
      Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true })
      document.execCommand = () => false
    })()`)
    await log().getByTitle(/2026-01-02 00:00:01/).click()
    await open.page.getByText(/Copy this link: http.*at=2026-01-02T05/).waitFor()
    await open.page.evaluate("document.execCommand = () => true")
    await log().getByTitle(/2026-01-02 00:00:01/).click()
    await open.page.getByText("Copied a link to the line of 00:00:01").waitFor()
  })

  it("lists all services of a stack while lines of one of them are shown", async () => {
    const { page } = await stage.open("/")
    const services: Array<string | null> = []
    await page.route("**/logs/follow?*", (route) => {
      services.push(new URL(route.request().url()).searchParams.get("service"))
      const said = ["web", "worker"].map((service) =>
        event("line", { service, time: "2026-01-02T05:00:00.500Z", stream: "stdout", text: `from ${service}` })
      )
      return route.fulfill({ contentType: "text/event-stream", body: `${said.join("")}${event("end", {})}` })
    })
    await page.goto(`${stage.service.url}/projects/hello?service=worker`)
    await page.getByRole("log").getByText("from worker").waitFor()
    expect(await page.getByLabel("Service").locator("option").allTextContents()).toEqual([
      "all services",
      "web",
      "worker"
    ])
    expect(await page.getByRole("log").getByText("from web").count()).toBe(0)
    expect(services.every((service) => service === null)).toBe(true)
    await page.context().close()
  })

  it("downloads the lines that it shows", async () => {
    await show("?project=hello&project=shop&level=error")
    const [file] = await Promise.all([
      open.page.waitForEvent("download"),
      open.page.getByRole("button", { name: "Download" }).click()
    ])
    expect(file.suggestedFilename()).toBe("hello-shop.log")
    const lines = (await readFile(await file.path(), "utf8")).split("\n")
    expect(lines[0]).toBe(`2026-01-02T05:00:01.000Z shop/worker ${json}`)
    expect(lines).toHaveLength(4)
  })

  it("has no barriers, at any width, in both colours", async () => {
    const found: Array<string> = []
    for (const [width, height] of [[1280, 900], [390, 844]] as const) {
      await open.page.setViewportSize({ width, height })
      await show("?project=hello&project=shop&q=orders&show=all&json=1&wrap=1")
      await open.page.getByRole("button", { name: "Next hit" }).click()
      found.push(...await barriersInColours(open.page))
      expect(await open.page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true)
      await picture(open.page, `log-screen-dark-${width}`)
      await open.page.emulateMedia({ colorScheme: "light" })
      await picture(open.page, `log-screen-light-${width}`)
    }
    expect(found).toEqual([])
    expect(open.faults).toEqual([])
  })

  it("is opened for a container that has ended, from the list of its server", async () => {
    await open.page.unroute("**/logs/follow?*")
    await open.page.setViewportSize({ width: 1280, height: 900 })
    await stage.ask("POST", "/api/container/stop", { serverId: stage.world.serverId, remotePath: "~/containers/hello" })
    await open.page.goto(`${stage.service.url}/servers/${stage.world.serverId}`)
    const row = open.page.getByRole("row").filter({ hasText: "Exited" })
    await row.getByRole("button", { name: "Log" }).click()
    await log().getByText("this is a stand-in").first().waitFor()
    await picture(open.page, "server-with-ended")
    // The container is in the address, and with it in a link to one of its lines.
    expect(new URL(open.page.url()).searchParams.get("container")).not.toBeNull()
    await open.page.reload()
    await log().getByText("this is a stand-in").first().waitFor()
    await row.getByRole("button", { name: "Log" }).click()
    await log().waitFor({ state: "detached" })
    expect(new URL(open.page.url()).searchParams.get("container")).toBeNull()
    await open.page.goto(`${stage.service.url}/logs?project=hello`)
    await log().getByText("this is a stand-in").first().waitFor()
  })
})
