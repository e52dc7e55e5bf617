import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { barriersInColours } from "./axe.ts"
import { missing, type OpenPage, openStage, picture, type Stage } from "./stage.ts"

describe.skipIf(missing !== undefined)(`the page of a project with environments ${missing ?? ""}`, () => {
  let stage: Stage
  let open: OpenPage
  beforeAll(async () => {
    stage = await openStage()
    const project = join(stage.world.projects, "hello")
    // Both are on one machine: neither a port nor a name of a container can be there twice.
    await writeFile(join(project, "compose.yml"), "services:\n  hello:\n    image: hello:latest\n")
    const environments = {
      staging: { server: "Sandbox", remotePath: "~/containers/hello-staging" },
      live: { server: "Sandbox", remotePath: "~/containers/hello-live", protected: true }
    }
    await writeFile(join(project, "container.json"), JSON.stringify({ environments, requireEnvironment: true }))
    open = await stage.open("/projects/hello")
  })
  afterAll(() => stage?.close())

  it("deploys to the chosen one, and to a protected one once its name was typed", async () => {
    const { page } = open
    const choice = page.getByRole("combobox", { name: "Target that is shown" })
    await choice.selectOption({ label: "live: Sandbox · ~/containers/hello-live" })
    await page.getByText("~/containers/hello-live", { exact: true }).first().waitFor()
    await page.getByRole("button", { name: /^Deploy/ }).first().click()
    const dialog = page.getByRole("dialog", { name: "Deploy hello to live?" })
    const name = dialog.getByRole("textbox", { name: "live is protected: type its name to confirm" })
    const act = dialog.getByRole("button", { name: /^Deploy/ })
    await name.waitFor()
    expect(await act.isDisabled()).toBe(true)
    await name.fill("staging")
    expect(await act.isDisabled()).toBe(true)
    await picture(page, "environments-question")
    expect(await barriersInColours(page)).toEqual([])
    await name.fill("live")
    await act.click()
    await dialog.waitFor({ state: "detached" })
    await page.getByRole("region", { name: "Last deploy" }).getByText("the stack is healthy", { exact: false })
      .waitFor()

    // The other environment is not deployed, which is none of the state of this one.
    await page.getByText(/^running/).first().waitFor()
    await page.getByRole("button", { name: "More for hello" }).click()
    await page.getByRole("button", { name: "Stop", exact: true }).click()
    const stop = page.getByRole("dialog", { name: "Stop the stack of hello?" })
    expect(await stop.getByRole("button", { name: "Stop" }).isDisabled()).toBe(true)
    await stop.getByRole("textbox").fill("live")
    await stop.getByRole("button", { name: "Stop" }).click()
    await stop.waitFor({ state: "detached" })
    await page.getByRole("region", { name: "Last stop" }).waitFor()
    expect(open.faults).toEqual([])
  })

  it("lists the project as one with a server, and leads to the choice", async () => {
    const { page } = await stage.open("/")
    await page.getByRole("button", { name: "Deploy hello" }).click()
    await page.waitForURL("**/projects/hello")
    await page.getByRole("combobox", { name: "Target that is shown" }).waitFor()
  })
})
