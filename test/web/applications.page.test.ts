import { Effect } from "effect"
import { readFile, writeFile } from "node:fs/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { barriersInColours } from "./axe.ts"
import { upsertHello } from "./hello.ts"
import { missing, type OpenPage, openStage, picture, type Stage } from "./stage.ts"

const looks = [["light", 1280, 900], ["dark", 1280, 900], ["light", 390, 844], ["dark", 390, 844]] as const

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

  it("are removed with their route and webhook, by a plan that was shown", async () => {
    const { page } = open
    await page.goto(`${stage.service.url}/applications/hello/hello`)
    await page.getByRole("button", { name: "Remove", exact: true }).click()
    const dialog = page.getByRole("dialog", { name: "Remove hello" })
    const remove = dialog.getByRole("button", { name: "Remove it from the platform" })
    const parts = dialog.getByRole("listitem")
    await parts.filter({ hasText: "route hello: hi.sandbox.test" }).waitFor()
    await parts.filter({ hasText: /webhook \d+ of sandbox\/hello/ }).waitFor()
    await dialog.getByText("hello still declares it in platform.json", { exact: false }).waitFor()
    await dialog.getByLabel("Keep its route in the proxy file").check()
    await parts.filter({ hasText: "(stays)" }).waitFor()
    await dialog.getByLabel("Keep its route in the proxy file").uncheck()
    for (const [colorScheme, width, height] of looks) {
      await page.setViewportSize({ width, height })
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0)
      await picture(page, `remove-application-${colorScheme}-${width}`)
    }
    expect(await barriersInColours(page)).toEqual([])
    await page.setViewportSize({ width: 1280, height: 900 })
    // Another caller removes the route meanwhile: the plan no longer holds, and is made again.
    await stage.ask("DELETE", "/api/platform/routes", { routeName: "hello" })
    await remove.click()
    await dialog.getByRole("alert").filter({ hasText: "no longer holds: its route is now none" }).waitFor()
    expect(await stage.ask("GET", "/api/platform/apps/find/hello")).toContain("uuid")
    await dialog.getByRole("button", { name: "Try again" }).click()
    await dialog.getByRole("alert").waitFor({ state: "detached" })
    await remove.click()
    await dialog.getByRole("status").filter({ hasText: /^hello is removed from the platform, with its webhook/ })
      .waitFor()
    expect(await stage.ask("GET", "/api/platform/apps/find/hello")).toBe("null")
    await picture(page, "application-removed")
    await dialog.getByRole("button", { name: "Close" }).click()
    await page.getByRole("button", { name: "Create the application" }).waitFor()
    expect(await page.getByRole("button", { name: "Remove", exact: true }).count()).toBe(0)
    expect(open.faults).toEqual([])
  })

  it("keep the values of their variables and their removal from a viewer, and say so", async () => {
    const { settingsFile } = stage.world
    const uuid = (await Effect.runPromise(stage.world.platform.state.applications))[0]?.uuid ?? ""
    await Effect.runPromise(stage.world.platform.state.createEnv(uuid, { key: "API_KEY", value: "of-operators" }))
    const tokens = "\nhttp:\n  tokens: [{ name: Vic, token: token-of-the-viewer, role: viewer }]\n"
    await writeFile(settingsFile, `${await readFile(settingsFile, "utf8")}${tokens}`)
    const { faults, page } = await stage.open(`/applications/${uuid}`)
    await page.getByLabel("Token").fill("token-of-the-viewer")
    await page.getByRole("button", { name: "Log in" }).click()
    const remove = page.getByRole("button", { name: "Remove", exact: true })
    await page.getByText("Vic, may only look").waitFor()
    expect(await remove.isDisabled()).toBe(true)
    expect(await remove.getAttribute("title")).toBe("Your token may only look: this is for operators")
    await picture(page, "application-viewer")
    const variables = page.getByRole("region", { name: "Variables" })
    await variables.getByText("API_KEY").waitFor()
    await variables.getByText("values are for operators").waitFor()
    expect(await variables.getByRole("button", { name: "Show API_KEY" }).count()).toBe(0)
    await variables.getByRole("button", { name: "Show HOST_PORT" }).click()
    expect(faults).toEqual([])
  })
})
