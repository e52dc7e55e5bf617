import { mkdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { barriersInColours } from "./axe.ts"
import { deployHello } from "./hello.ts"
import { missing, type OpenPage, openStage, picture, rewriteAnswers, type Stage } from "./stage.ts"

const hostile = "<img src=x onerror=\"document.title='owned'\">"

describe.skipIf(missing !== undefined)(`the screen of a project ${missing ?? ""}`, () => {
  let stage: Stage
  let open: OpenPage
  beforeAll(async () => {
    stage = await openStage()
    await deployHello(stage)
    open = await stage.open("/projects/hello/changes")
  })
  afterAll(() => stage?.close())

  it("shows the plan with names of variables, lines, and no value of an env file", async () => {
    const plan = open.page.getByRole("region", { name: "Plan", exact: true })
    await plan.getByText("2 files would change on the server").waitFor()
    await plan.getByText("WORKERS").waitFor()
    await plan.getByText("LOG_LEVEL", { exact: true }).waitFor()
    await plan.getByText("compared", { exact: false }).first().waitFor()
    expect(await open.page.content()).not.toContain("GREETING=")
    await open.page.getByText("running · 1 of 1 up").waitFor()
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
    const tabs = page.getByRole("navigation", { name: "Parts of hello" })
    const before = await tabs.boundingBox()
    await dialog.getByRole("button", { name: "Deploy 2 changes" }).click()
    await dialog.waitFor({ state: "detached" })
    // The head keeps its place and height while a run is under way.
    expect(await tabs.boundingBox()).toEqual(before)
    const run = page.getByRole("region", { name: /Deploying|Last deploy/ })
    // The deploy before it was healthy too: only this one brings what is here.
    await page.getByText("Nothing would change on the server").waitFor()
    await run.getByText("the stack is healthy", { exact: false }).waitFor()
    for (const step of ["preflight", "upload", "load", "start", "health"]) {
      await expect.poll(() => run.getByText(`${step}: done`, { exact: true }).count(), { message: step }).toBe(1)
    }
    expect(await stage.ask("GET", "/api/runs?limit=1")).toContain("\"door\":\"web\"")
  })

  it("rolls back to an earlier release, seeing the difference", async () => {
    const { page } = open
    await page.getByRole("link", { name: "Runs and releases" }).click()
    await page.waitForURL("**/projects/hello/runs")
    const line = page.getByRole("region", { name: "Runs and releases" })
    await line.getByText("current").waitFor()
    await line.getByRole("link", { name: "Deploy hello" }).first().waitFor()
    await line.getByRole("button", { name: "Roll back" }).first().click()
    const dialog = page.getByRole("dialog")
    await dialog.getByText("compose.yml").waitFor()
    // The plan names files that differ from those on the server, not every file of the release.
    await dialog.getByText("changes", { exact: true }).first().waitFor()
    await dialog.getByText("hello:latest").waitFor()
    await dialog.getByText(/^Release \d+ runs now/).waitFor()
    // With the lines that change, and of env files the variables.
    await dialog.getByText("LOG_LEVEL: info").first().waitFor()
    await dialog.getByText("WORKERS").waitFor()
    expect(await barriersInColours(page)).toEqual([])
    await picture(page, "project-rollback")
    // Without a plan, or with one of an earlier opening, nothing is rolled back.
    await page.route(
      "**/api/container/rollback/plan",
      (route) => route.fulfill({ status: 502, json: { success: false, error: "Sandbox does not answer" } })
    )
    await dialog.getByRole("button", { name: "Leave it" }).click()
    await line.getByRole("button", { name: "Roll back" }).first().click()
    await dialog.getByText("Sandbox does not answer").waitFor()
    expect(await dialog.getByRole("button", { name: /^Run release/ }).isDisabled()).toBe(true)
    await page.unroute("**/api/container/rollback/plan")
    await dialog.getByRole("button", { name: "Leave it" }).click()
    await line.getByRole("button", { name: "Roll back" }).first().click()
    await dialog.getByRole("button", { name: /^Run release/ }).click()
    await page.getByRole("region", { name: "Last rollback" }).getByText("healthy").first().waitFor()
    await page.getByRole("link", { name: /^Changes/ }).click()
    await page.getByText("2 files would change on the server").waitFor()
  })

  it("shows the difference of two releases, which its address keeps", async () => {
    const { faults, page } = await stage.open("/projects/hello/runs")
    const line = page.getByRole("region", { name: "Runs and releases" })
    await line.getByRole("checkbox", { name: "Compare release 2" }).check()
    await line.getByText("Choose another release to compare release 2 with").waitFor()
    await line.getByRole("checkbox", { name: "Compare release 1" }).check()
    const difference = page.getByRole("region", { name: "From release 1 to 2" })
    const isComplete = async () => {
      for (const shown of ["compose.yml", "LOG_LEVEL: info", "WORKERS"]) {
        await difference.getByText(shown, { exact: shown === "WORKERS" }).first().waitFor()
      }
    }
    await isComplete()
    expect(await page.content()).not.toContain("GREETING=")
    expect(page.url()).toMatch(/\/projects\/hello\/runs\?compare=\d&compare=\d$/)
    expect(await barriersInColours(page)).toEqual([])
    await page.reload()
    await isComplete()
    for (const width of [1360, 390]) {
      await page.setViewportSize({ width, height: 844 })
      await page.getByRole("link", { name: "Changes 2", exact: true }).waitFor()
      await picture(page, `project-releases-${width}`)
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0)
    }
    await difference.getByRole("button", { name: "Close the comparison" }).click()
    await difference.waitFor({ state: "detached" })
    expect(page.url()).toMatch(/\/projects\/hello\/runs$/)
    await page.goto(`${stage.service.url}/projects/hello/runs?compare=1&compare=99`)
    await page.getByRole("alert").getByText("There is no release", { exact: false }).waitFor()
    expect(faults).toEqual([])
    await page.context().close()
  })

  it("shows one count of changes everywhere", async () => {
    const { page } = await stage.open("/projects/hello/changes")
    await page.getByText("2 files would change on the server").waitFor()
    await page.getByRole("button", { name: "Deploy 2 changes" }).waitFor()
    await page.getByRole("link", { name: "Changes 2", exact: true }).waitFor()
    await page.locator(".project-link[aria-current] .count").getByText(/^2/).waitFor()
    await page.getByRole("link", { name: "Overview" }).click()
    const row = page.getByRole("row").filter({ has: page.getByRole("link", { name: "hello", exact: true }) })
    await row.getByText("2 changes").waitFor()
    await page.context().close()
  })

  it("has a tab for each part, with an address of its own, below a head that stays", async () => {
    const { faults, page } = await stage.open("/projects/hello", { permissions: ["clipboard-write", "clipboard-read"] })
    const services = page.getByRole("region", { name: "Services" })
    await services.getByText("hello", { exact: true }).waitFor()
    await page.getByRole("region", { name: "Logs" }).waitFor()
    await page.getByRole("button", { name: "Copy 127.0.0.1:2008" }).click()
    await page.getByRole("button", { name: "Copied" }).waitFor()
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe("http://127.0.0.1:2008")
    for (
      const [tab, part, region] of [
        ["Variables", "variables", "Env files"],
        ["Application", "application", "Applications"],
        [/^Changes/, "changes", "Plan"]
      ] as const
    ) {
      await page.getByRole("link", { name: tab, exact: true }).first().click()
      await page.waitForURL(`**/projects/hello/${part}`)
      await page.getByRole("region", { name: region, exact: true }).waitFor()
    }
    await page.getByRole("region", { name: "Plan", exact: true }).getByText("LOG_LEVEL").first().waitFor()
    await page.setViewportSize({ width: 1280, height: 420 })
    await page.mouse.move(700, 300)
    await page.mouse.wheel(0, 400)
    await expect.poll(() => page.evaluate("scrollY")).toBeGreaterThan(100)
    expect((await page.getByRole("button", { name: "Deploy 2 changes" }).boundingBox())?.y).toBeLessThan(120)
    await page.goBack()
    await page.waitForURL("**/projects/hello/application")
    expect(faults).toEqual([])
    await page.context().close()
  })

  it("lists what the removal of the stack takes and leaves, before it is confirmed", async () => {
    const { page } = await stage.open("/projects/hello")
    await rewriteAnswers(page, "**/api/container/remove/plan", async (route) => {
      const response = await route.fetch()
      const plan = await response.json()
      const stays = [...plan.stays, { kind: "file", name: hostile, because: "Berth did not bring it" }]
      const files = [...plan.files, ...Array.from({ length: 30 }, (_, index) => `made-${index}`)]
      await route.fulfill({ response, json: { ...plan, files, stays } })
    })
    await page.getByRole("button", { name: "More for hello" }).click()
    await page.getByRole("button", { name: "Remove", exact: true }).click()
    const dialog = page.getByRole("dialog", { name: "Remove the stack of hello?" })
    const list = dialog.getByRole("group", { name: "What is removed and what stays" })
    for (const named of ["Release 1, deployed", "Containers", "compose.yml", "more", hostile]) {
      await list.getByText(named, { exact: false }).first().waitFor()
    }
    expect(await page.title()).not.toBe("owned")
    await dialog.getByRole("button", { name: "Leave it" }).click()
    await page.context().close()
  })

  it("offers only what can be done: nothing with the stack of a project that is not deployed", async () => {
    const { page } = await stage.open("/servers")
    await rewriteAnswers(page, "**/api/overview", async (route) => {
      const response = await route.fetch()
      const body = await response.json()
      const projects = body.projects.map((project: object) => ({ ...project, state: "not deployed" }))
      await route.fulfill({ response, json: { ...body, projects } })
    })
    await page.goto(`${stage.service.url}/projects/hello`)
    await page.getByText(/^not deployed/).first().waitFor()
    await page.getByRole("button", { name: "More for hello" }).click()
    await page.getByRole("button", { name: "Go to its server" }).waitFor()
    for (const name of ["Start", "Stop", "Restart", "Remove"]) {
      expect(await page.getByRole("button", { name, exact: true }).count(), name).toBe(0)
    }
    await page.context().close()
  })

  it("is amber only for what needs care: neither for pulled images, nor for a project without a Dockerfile", async () => {
    const { page } = await stage.open("/servers")
    await rewriteAnswers(page, "**/api/container/plan", async (route) => {
      const response = await route.fetch()
      const body = await response.json()
      await route.fulfill({ response, json: { ...body, warnings: ["the server pulls web:1 from its registry"] } })
    })
    await page.goto(`${stage.service.url}/projects/hello/changes`)
    const note = page.getByText("The server pulls web:1 from its registry.")
    await note.waitFor()
    expect(await note.getAttribute("class")).not.toContain("warn")
    await mkdir(join(stage.world.projects, "pulled"))
    await writeFile(join(stage.world.projects, "pulled", "compose.yml"), "services:\n  web:\n    image: web:1\n")
    await page.goto(`${stage.service.url}/projects/pulled`)
    const line = page.getByRole("listitem").filter({ hasText: "A Dockerfile or Containerfile" })
    await line.getByText("not needed").waitFor()
    await page.context().close()
  })

  it("shows the state that the service computed, whatever the containers are called", async () => {
    const { page } = await stage.open("/projects")
    await rewriteAnswers(page, "**/api/overview", async (route) => {
      const response = await route.fetch()
      const body = (await response.text()).replaceAll("\"state\":\"running\"", "\"state\":\"degraded\"")
        .replace(/"containerNames":\["[^\]]*\]/, "\"containerNames\":[\"my-own-name\"]")
      await route.fulfill({ response, body })
    })
    await page.goto(`${stage.service.url}/projects/hello`)
    await page.getByText("degraded · 1 of 1 up").waitFor()
    await page.getByRole("region", { name: /^Log/ }).first().waitFor()
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
    await page.goto(`${stage.service.url}/projects/hello/changes`)
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
