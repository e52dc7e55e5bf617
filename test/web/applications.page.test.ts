import { Effect } from "effect"
import { readFile, writeFile } from "node:fs/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { upsertHello } from "./hello.ts"
import { missing, type OpenPage, openStage, picture, type Stage } from "./stage.ts"

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
    await page.getByRole("row").filter({ hasText: "hello" }).getByText("2 differences").waitFor()
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
    const changelog = page.getByRole("region", { name: "Changelog" })
    await changelog.getByText("autopack").waitFor()
    const entries = await changelog.getByRole("listitem").allInnerTexts()
    expect(entries.map((text) => /^(created|updated)/.exec(text)?.[1])).toEqual(["updated", "created"])
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
    // Its entry is what runs; the webhook and its secret, which an upsert would set up, are not there yet.
    const drift = page.getByRole("region", { name: "Drift" })
    await drift.getByText("2 differences").waitFor()
    expect(await drift.getByRole("row").filter({ hasText: "Webhook" }).count()).toBe(2)
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
    expect(await dialog.getByRole("button", { name: "Add it to the proxy file" }).count()).toBe(0)
    await dialog.getByRole("button", { name: "Show what would change" }).click()
    const plan = dialog.getByRole("region", { name: "What would become of the proxy file" })
    await plan.getByText(stage.world.proxyFile.split("/").at(-1) ?? "", { exact: false }).first().waitFor()
    await plan.getByText("extra.sandbox.test", { exact: false }).first().waitFor()
    await picture(page, "route-plan")
    // A plan of other words than stand there now is none.
    await dialog.getByLabel("Port").fill("2101")
    await plan.waitFor({ state: "detached" })
    await dialog.getByLabel("Port").fill("2100")
    await dialog.getByRole("button", { name: "Show what would change" }).click()
    await dialog.getByRole("button", { name: "Add it to the proxy file" }).click()
    await dialog.getByText("leads", { exact: false }).first().waitFor()
    await dialog.getByRole("button", { name: "Close" }).click()
    const routes = page.getByRole("region", { name: "Routes", exact: true })
    const extra = routes.getByRole("listitem").filter({ hasText: "extra.sandbox.test" })
    await extra.getByText("192.168.77.10:2100").waitFor()
    await extra.getByText("as Berth writes it", { exact: false }).waitFor()
    await extra.getByRole("button", { name: "Remove" }).click()
    const question = page.getByRole("dialog", { name: "Remove the route extra" })
    await question.getByText("extra.sandbox.test leads nowhere", { exact: false }).waitFor()
    await question.getByRole("button", { name: "Remove it from the proxy file" }).click()
    await page.getByText("no longer has the route extra").waitFor()
    await question.getByRole("button", { name: "Close" }).click()
    await extra.waitFor({ state: "detached" })
    expect(open.faults).toEqual([])
  })

  it("keep the values of their variables from a viewer, and say so", async () => {
    const { settingsFile } = stage.world
    const uuid = (await Effect.runPromise(stage.world.platform.state.applications))[0]?.uuid ?? ""
    await Effect.runPromise(stage.world.platform.state.createEnv(uuid, { key: "API_KEY", value: "of-operators" }))
    const tokens = "\nhttp:\n  tokens: [{ name: Vic, token: token-of-the-viewer, role: viewer }]\n"
    await writeFile(settingsFile, `${await readFile(settingsFile, "utf8")}${tokens}`)
    const { faults, page } = await stage.open(`/applications/${uuid}`)
    await page.getByLabel("Token").fill("token-of-the-viewer")
    await page.getByRole("button", { name: "Log in" }).click()
    const variables = page.getByRole("region", { name: "Variables" })
    await variables.getByText("API_KEY").waitFor()
    await variables.getByText("values are for operators").waitFor()
    expect(await variables.getByRole("button", { name: "Show API_KEY" }).count()).toBe(0)
    await variables.getByRole("button", { name: "Show HOST_PORT" }).click()
    expect(faults).toEqual([])
  })
})
