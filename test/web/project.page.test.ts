import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { deployHello } from "./hello.ts"
import { missing, type OpenPage, openStage, picture, type Stage } from "./stage.ts"

const hostile = "<img src=x onerror=\"document.title='owned'\">"

describe.skipIf(missing !== undefined)(`the screen of a project ${missing ?? ""}`, () => {
  let stage: Stage
  let open: OpenPage
  beforeAll(async () => {
    stage = await openStage()
    await deployHello(stage)
    open = await stage.open("/projects/hello")
  })
  afterAll(() => stage?.close())

  it("shows the plan with names of variables, lines, and no value of an env file", async () => {
    const plan = open.page.getByRole("region", { name: "Plan", exact: true })
    await plan.getByText("2 files would change on the server").waitFor()
    await plan.getByText("WORKERS").waitFor()
    await plan.getByText("LOG_LEVEL", { exact: true }).waitFor()
    await plan.getByText("compared", { exact: false }).first().waitFor()
    expect(await open.page.content()).not.toContain("GREETING=")
    await open.page.getByText(/^Up .* · healthy$/).waitFor()
    await open.page.getByText(/^seen /).first().waitFor()
  })

  it("deploys what was planned, after a question that names it, and never by a letter key", async () => {
    const { page } = open
    const deploy = page.getByRole("button", { name: "Deploy 2 changes" })
    await deploy.waitFor()
    await page.keyboard.press("d")
    expect(await deploy.evaluate((element) => element.ownerDocument.activeElement === element)).toBe(true)
    expect(await page.getByRole("dialog").count()).toBe(0)
    await page.keyboard.press("Enter")
    const dialog = page.getByRole("dialog", { name: "Deploy hello to Sandbox?" })
    for (const named of ["compose.yml", ".env", "service hello", "~/containers/hello"]) {
      await dialog.getByText(named).first().waitFor()
    }
    await dialog.getByRole("button", { name: "Leave it" }).click()
    expect(await page.getByRole("button", { name: "Deploying …" }).count()).toBe(0)
    await deploy.click()
    await picture(page, "project-question")
    await dialog.getByRole("button", { name: "Deploy 2 changes" }).click()
    const run = page.getByRole("region", { name: /Deploying|Last deploy/ })
    // The deploy before it was healthy too: only this one brings what is here.
    await page.getByText("Nothing would change on the server").waitFor()
    await run.getByText("the stack is healthy", { exact: false }).waitFor()
    for (const step of ["preflight", "upload", "load", "start", "health"]) {
      await expect.poll(() => run.getByText(`${step}: done`, { exact: true }).count(), { message: step }).toBe(1)
    }
    expect(await stage.ask("GET", "/api/runs?limit=1")).toContain("\"door\":\"web\"")
  })

  it("rolls back to an earlier release", async () => {
    const { page } = open
    const releases = page.getByRole("region", { name: "Releases" })
    await releases.getByText("current").waitFor()
    await releases.getByRole("button", { name: "Roll back" }).first().click()
    const dialog = page.getByRole("dialog")
    await dialog.getByText("compose.yml").waitFor()
    await dialog.getByRole("button", { name: /^Run release/ }).click()
    await page.getByRole("region", { name: "Last rollback" }).getByText("healthy").first().waitFor()
    await page.getByText("2 files would change on the server").waitFor()
  })

  it("says why a deploy would stop, and does not offer it", async () => {
    const { page } = open
    const compose = join(stage.world.projects, "hello", "compose.yml")
    const before = await readFile(compose, "utf8")
    await writeFile(compose, "services: [\n")
    await page.getByRole("button", { name: "Compare again" }).click()
    await page.getByRole("alert").filter({ hasText: "compose.yml" }).first().waitFor()
    await picture(page, "project-broken")
    await writeFile(compose, before)
    await page.getByRole("button", { name: "Compare again" }).click()
    await page.getByRole("alert").first().waitFor({ state: "detached" })
    await page.getByText("2 files would change on the server").waitFor()
  })

  it("shows names and log lines as the text that they are", async () => {
    const { page } = open
    await writeFile(join(stage.world.projects, "hello", "compose.yml"), `# ${hostile}\nservices: {}\n`)
    await page.goto(`${stage.service.url}/projects/hello`)
    await page.getByText(hostile, { exact: false }).first().waitFor()
    await page.goto(`${stage.service.url}/projects/${encodeURIComponent(hostile)}`)
    await page.getByRole("heading", { name: hostile }).waitFor()
    expect(await page.title()).not.toBe("owned")
    expect(await page.locator("img").count()).toBe(0)
  })

  it("has kept to itself all along", () => {
    expect(open.faults).toEqual([])
  })
})
