import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { upsertHello } from "./hello.ts"
import { missing, type OpenPage, openStage, type Stage } from "./stage.ts"

describe.skipIf(missing !== undefined)(`applications, webhooks and routes ${missing ?? ""}`, () => {
  let stage: Stage
  let open: OpenPage
  beforeAll(async () => {
    stage = await openStage()
    await upsertHello(stage)
    open = await stage.open("/applications")
  })
  afterAll(() => stage?.close())

  it("are compared with what is declared, in three ways", async () => {
    const { page } = open
    await page.getByRole("row").filter({ hasText: "hello" }).getByText("1 difference").waitFor()
    await page.getByRole("main").getByRole("link", { name: "hello", exact: true }).first().click()
    const drift = page.getByRole("region", { name: "Drift" })
    const row = drift.getByRole("row").filter({ hasText: "autopack" })
    await row.getByText("changed here").waitFor()
    expect(await row.getByText("composestack").count()).toBe(2)
  })

  it("are brought to what is declared, by a plan that was shown", async () => {
    const { page } = open
    const plan = page.getByRole("region", { name: "Plan", exact: true })
    await plan.getByText("hi.sandbox.test", { exact: false }).first().waitFor()
    await page.getByRole("button", { name: /^Apply \d+ changes$/ }).click()
    const dialog = page.getByRole("dialog", { name: "Update hello on the platform?" })
    await dialog.getByText("autopack").waitFor()
    await dialog.getByRole("button", { name: /^Apply/ }).click()
    await page.getByRole("region", { name: "Last upsert" }).getByText("succeeded").waitFor()
    await page.getByRole("region", { name: "Drift" }).getByText("0 differences").waitFor()
  })

  it("are followed hop by hop, and show their variables one at a time", async () => {
    const { page } = open
    const way = page.getByRole("region", { name: "The way to it" })
    await way.getByText("The platform runs it").waitFor()
    await way.getByText("HTTPS on the domain answers").waitFor()
    const variables = page.getByRole("region", { name: "Variables" })
    await variables.getByText("••••••••").first().waitFor()
    expect(await variables.getByText("2008").count()).toBe(0)
    await variables.getByRole("button", { name: "Show HOST_PORT" }).click()
    await variables.getByText("2008").waitFor()
  })

  it("are adopted", async () => {
    const { page } = open
    await page.getByRole("link", { name: "Applications", exact: true }).first().click()
    await page.getByRole("main").getByRole("link", { name: "greeter", exact: true }).first().click()
    await page.getByRole("combobox", { name: "Project" }).selectOption({ label: "notes" })
    await page.getByRole("button", { name: "Write it into notes/platform.json" }).click()
    await page.getByRole("link", { name: "greeter is declared now" }).click()
    await page.getByRole("region", { name: "Drift" }).getByText("0 differences").waitFor()
  })

  it("get webhooks, which are tried", async () => {
    const { page } = open
    await page.getByRole("link", { name: "Webhooks", exact: true }).click()
    const greeter = page.getByRole("region", { name: "greeter" })
    await greeter.getByText("not set up").waitFor()
    await greeter.getByRole("button", { name: "Set up" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Set it up" }).click()
    await greeter.getByText("greeter has an active hook", { exact: false }).waitFor()
    await greeter.getByRole("button", { name: "Test" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Send a test delivery" }).click()
    await greeter.getByRole("status").waitFor()
  })

  it("get routes, whose lines are shown before", async () => {
    const { page } = open
    await page.getByRole("link", { name: "Routes", exact: true }).click()
    await page.getByText("HOST_PORT of an application").first().waitFor()
    await page.getByRole("button", { name: "Add a route" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("Name").fill("extra")
    await dialog.getByLabel("Domain").fill("extra.sandbox.test")
    await dialog.getByLabel("Port").fill("2100")
    await dialog.getByText("Host(`extra.sandbox.test`)").waitFor()
    await dialog.getByRole("button", { name: "Add it to the proxy file" }).click()
    await dialog.getByText("leads", { exact: false }).first().waitFor()
    await dialog.getByRole("button", { name: "Close" }).click()
    await page.getByText("http://192.168.77.10:2100").waitFor()
    await page.getByRole("button", { name: "Remove a route" }).click()
    await page.getByRole("dialog").getByLabel("Name").fill("extra")
    await page.getByRole("dialog").getByRole("button", { name: "Remove it from the proxy file" }).click()
    await page.getByText("no longer has the route extra").waitFor()
    expect(open.faults).toEqual([])
  })
})
