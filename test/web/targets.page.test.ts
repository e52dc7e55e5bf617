import { Redacted } from "effect"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { barriersInColours } from "./axe.ts"
import { missing, type OpenPage, openStage, picture, type Stage } from "./stage.ts"

describe.skipIf(missing !== undefined)(`the page of a project with targets ${missing ?? ""}`, () => {
  let stage: Stage
  let open: OpenPage
  beforeAll(async () => {
    stage = await openStage()
    const { host, password, port, username } = stage.world.server
    const project = join(stage.world.projects, "hello")
    await stage.ask("POST", "/api/servers", {
      name: "web-2",
      host,
      port,
      username,
      password: Redacted.value(password),
      useSudo: true
    })
    // Both are one machine: neither a port nor a name of a container can be there twice.
    await writeFile(join(project, "compose.yml"), "services:\n  hello:\n    image: hello:latest\n")
    const targets = [{ server: "Sandbox" }, { server: "web-2", remotePath: "~/containers/hello-2" }]
    await writeFile(join(project, "container.json"), JSON.stringify({ targets }))
    open = await stage.open("/projects/hello")
  })
  afterAll(() => stage?.close())

  it("deploys to one of them, or after one question to all, and the run links each deploy", async () => {
    const { page } = open
    await page.getByRole("combobox", { name: "Target that is shown" }).waitFor()
    await page.getByRole("button", { name: /^Deploy/ }).first().click()
    const dialog = page.getByRole("dialog", { name: "Deploy hello to its servers?" })
    await dialog.getByText("~/containers/hello-2").waitFor()
    await dialog.getByRole("combobox", { name: "Targets" }).selectOption({ label: "web-2" })
    await dialog.getByRole("button", { name: "Deploy to 1 target" }).waitFor()
    await dialog.getByRole("combobox", { name: "Targets" }).selectOption({ label: "all targets" })
    await picture(page, "targets-question")
    await dialog.getByRole("button", { name: "Deploy to 2 targets" }).click()
    await dialog.waitFor({ state: "detached" })
    const strip = page.getByRole("region", { name: "Last deploy to its servers" })
    await strip.getByText("2 of 2 servers run the new version: Sandbox, web-2.").first().waitFor()

    await strip.getByRole("link", { name: "Open the run" }).click()
    const links = page.getByRole("region", { name: "Targets" })
    await links.getByRole("link", { name: "Sandbox · ~/containers/hello" }).waitFor()
    expect(await links.getByText("deployed", { exact: true }).count()).toBe(2)
    await picture(page, "targets-run")
    expect(await barriersInColours(page)).toEqual([])
    await links.getByRole("link", { name: "web-2" }).click()
    await page.getByRole("heading", { name: "Deploy hello" }).waitFor()
    await page.getByRole("link", { name: "a deploy to several servers" }).waitFor()
    expect(open.faults).toEqual([])
  })

  it("fits on a telephone", async () => {
    const { page } = await stage.open("/projects/hello", { viewport: { width: 390, height: 800 } })
    await page.getByRole("combobox", { name: "Target that is shown" }).waitFor()
    await picture(page, "targets-telephone")
    const width = () => page.locator("html").evaluate((element) => element.scrollWidth)
    expect(await width()).toBeLessThanOrEqual(390)
    await page.getByRole("button", { name: /^Deploy/ }).first().click()
    await page.getByRole("dialog").getByText("~/containers/hello-2").waitFor()
    expect(await width()).toBeLessThanOrEqual(390)
  })

  it("shows the target that the address names", async () => {
    const { page } = await stage.open("/projects/hello?target=2")
    await page.getByText("~/containers/hello-2", { exact: true }).first().waitFor()
    await page.getByRole("combobox", { name: "Target that is shown" }).selectOption({ index: 0 })
    await page.waitForURL("**/projects/hello?target=1")
    await page.getByText("~/containers/hello", { exact: true }).first().waitFor()
  })
})
