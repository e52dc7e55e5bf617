import { readFile, writeFile } from "node:fs/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { deployHello } from "./hello.ts"
import { missing, openStage, picture, rewriteAnswers, settled, type Stage } from "./stage.ts"

describe.skipIf(missing !== undefined)(`what cannot be done ${missing ?? ""}`, () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage()
    await deployHello(stage)
  })
  afterAll(() => stage?.close())

  it("closes a dialog by a press on the backdrop, never by a release there or with input in it", async () => {
    const { faults, page } = await stage.open("/servers")
    await page.getByRole("button", { name: "Add a server" }).click()
    const dialog = page.getByRole("dialog", { name: "Add a server" })
    const box = await dialog.getByRole("heading").boundingBox()
    await page.mouse.move(box?.x ?? 0, box?.y ?? 0)
    await page.mouse.down()
    await page.mouse.move(5, 5)
    await page.mouse.up()
    expect(await dialog.isVisible()).toBe(true)
    await dialog.getByLabel("Name").fill("Main")
    await page.mouse.click(5, 5)
    expect(await dialog.isVisible()).toBe(true)
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
    await page.getByRole("button", { name: "Add a server" }).click()
    await dialog.waitFor()
    await page.mouse.click(5, 5)
    await dialog.waitFor({ state: "detached" })
    expect(faults).toEqual([])
    await page.context().close()
  })

  it("notices within seconds that the service does not answer, and offers nothing that it cannot do", async () => {
    const { page } = await stage.open("/projects/hello")
    const deploy = page.getByRole("button", { name: /^Deploy 2 changes/ })
    await deploy.waitFor()
    await page.route("**/api/**", (route) => route.abort())
    await page.getByText(/What is shown here is stale/).waitFor({ timeout: 15_000 })
    expect(await deploy.isDisabled()).toBe(true)
    expect(await deploy.getAttribute("title")).toBe("Berth does not answer")
    expect(await page.evaluate("getComputedStyle(document.querySelector('.stale .badge')).filter")).toBe("grayscale(1)")
    await page.context().close()
  })

  it("keeps the rest of the page where a part cannot be loaded, and offers to reload an old page", async () => {
    const { page } = await stage.open("/servers")
    await settled(page)
    await page.route("**/assets/Hunk-*.js", (route) => route.abort())
    await page.goto(`${stage.service.url}/projects/hello/changes`)
    await page.getByText("This diff cannot be shown").first().waitFor()
    await page.getByRole("heading", { name: "hello", exact: true }).waitFor()
    await rewriteAnswers(page, "**/api/health", async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...await response.json(), version: "9.9.9" } })
    })
    await page.getByText("Berth is version 9.9.9 now", { exact: false }).waitFor()
    await page.context().close()
  })

  it("tells a viewer why a button is disabled", async () => {
    const { settingsFile } = stage.world
    const tokens = "\nhttp:\n  tokens: [{ name: Vic, token: token-of-the-viewer, role: viewer }]\n"
    await writeFile(settingsFile, `${await readFile(settingsFile, "utf8")}${tokens}`)
    const { page } = await stage.open("/projects/hello/changes")
    await page.getByLabel("Token").fill("token-of-the-viewer")
    await page.getByRole("button", { name: "Log in" }).click()
    const deploy = page.getByRole("button", { name: /^Deploy 2 changes/ })
    await deploy.waitFor()
    await page.getByRole("button", { name: "More for hello" }).click()
    await page.getByRole("button", { name: "Restart" }).waitFor()
    for (const button of [deploy, page.getByRole("button", { name: "Restart" })]) {
      expect(await button.isDisabled()).toBe(true)
      expect(await button.getAttribute("title")).toBe("Your token may only look: this is for operators")
    }
    expect(await page.getByRole("button", { name: "Compare again" }).isDisabled()).toBe(false)
    await picture(page, "project-viewer")
    await page.context().close()
  })
})
