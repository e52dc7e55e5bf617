import { Redacted } from "effect"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { mkdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { barriersInColours } from "./axe.ts"
import { missing, type OpenPage, openStage, picture, rewriteAnswers, type Stage } from "./stage.ts"

const looks = [["light", 1360, 900], ["dark", 1360, 900], ["light", 390, 844], ["dark", 390, 844]] as const

// The default directory of the projects is in the home directory.
const homeBefore = process.env["HOME"]
const home = mkdtempSync(join(tmpdir(), "berth-fresh-home-"))
process.env["HOME"] = home
afterAll(() => {
  if (homeBefore === undefined) delete process.env["HOME"]
  else process.env["HOME"] = homeBefore
  rmSync(home, { recursive: true })
})

describe.skipIf(missing !== undefined)(`an empty service ${missing ?? ""}`, () => {
  let stage: Stage
  let open: OpenPage
  const projects = join(home, "projects")
  beforeAll(async () => {
    stage = await openStage((world) => rm(world.settingsFile))
    open = await stage.open("/", { viewport: { width: 1360, height: 900 } })
  })
  afterAll(() => stage?.close())

  /** Takes pictures of a state in every look, and checks that nothing is cut off or hard to use. */
  const look = async (name: string) => {
    const { page } = open
    for (const [colorScheme, width, height] of looks) {
      await page.setViewportSize({ width, height })
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0)
      await picture(page, `${name}-${colorScheme}-${width}`)
    }
    expect(await barriersInColours(page)).toEqual([])
    await page.setViewportSize({ width: 1360, height: 900 })
  }

  it("asks where the projects are, checks it while it is typed, and creates it", async () => {
    const { page } = open
    const step = page.getByRole("region", { name: "Where are your projects?" })
    await page.getByRole("heading", { name: "First steps" }).waitFor()
    await step.getByText(`${projects} does not exist yet: Berth can create it.`).waitFor()
    await step.getByText("root: ~/projects").first().waitFor()
    await look("first-steps-projects")
    const skipping = await stage.open("/")
    await skipping.page.getByRole("button", { name: "Show the overview" }).click()
    await skipping.page.getByRole("heading", { name: "Overview", exact: true }).waitFor()
    await skipping.page.context().close()
    const root = step.getByLabel("Directory of the projects")
    await writeFile(join(home, "note"), "")
    await root.fill(join(home, "note"))
    await step.getByText(`${join(home, "note")} is not a directory.`).waitFor()
    expect(await step.getByRole("button", { name: "Use it" }).isDisabled()).toBe(true)
    await root.fill(home)
    await step.getByText(`${home} has 0 projects.`).waitFor()
    await root.fill("~/projects")
    await step.getByRole("button", { name: "Create it and use it" }).click()
    await step.getByText("~/projects · 0 projects").waitFor()
    expect(existsSync(projects)).toBe(true)
    expect(readFileSync(stage.world.settingsFile, "utf8")).toBe("projects:\n  root: ~/projects\n")
  })

  it("goes on with the first steps in every window as long as no server is stored, also where projects are there", async () => {
    await mkdir(join(projects, "early"))
    await writeFile(join(projects, "early/compose.yml"), "services: { web: { image: nginx } }\n")
    await writeFile(join(projects, "early/container.json"), "{ \"serverId\": \"Main\" }\n")
    const other = await stage.open("/")
    await other.page.getByRole("region", { name: "Add a server" }).getByLabel("Name").waitFor()
    await other.page.getByText("~/projects · 1 project").waitFor()
    await other.page.getByRole("button", { name: "Show the overview" }).click()
    await other.page.getByRole("heading", { name: "Overview", exact: true }).waitFor()
    await other.page.reload()
    await other.page.getByRole("heading", { name: "Overview", exact: true }).waitFor()
    await other.page.getByRole("table", { name: "Projects" }).waitFor()
    expect(await other.page.getByRole("heading", { name: "First steps" }).count()).toBe(0)
    await other.page.context().close()
    await rm(join(projects, "early"), { recursive: true })
    await open.page.reload()
    await open.page.getByRole("region", { name: "Add a server" }).getByLabel("Name").waitFor()
  })

  it("adds a server in place, after a test and the change of the settings file", async () => {
    const { page } = open
    const step = page.getByRole("region", { name: "Add a server" })
    const { server } = stage.world
    await look("first-steps-server")
    await step.getByLabel("Name").fill("Main")
    await step.getByLabel("Host", { exact: true }).fill(server.host)
    await step.getByLabel("SSH port").fill(String(server.port))
    await step.getByLabel("User").fill(server.username)
    await step.getByLabel("Log in with").selectOption({ label: "a password" })
    await step.getByRole("textbox", { name: "Password" }).fill(Redacted.value(server.password))
    await step.getByLabel("Docker and files need sudo there").check()
    await step.getByRole("button", { name: "Test the connection" }).click()
    await step.getByText(server.fingerprint).waitFor()
    await step.getByRole("button", { name: "It is the same: log in" }).click()
    await step.getByText(/^Docker \d/).waitFor()
    await step.getByRole("button", { name: "See the change" }).click()
    const change = step.getByRole("region", { name: "Change of the settings file" })
    await change.getByText("name: Main").waitFor()
    await change.getByText("*** (new)", { exact: false }).waitFor()
    await change.scrollIntoViewIfNeeded()
    await look("first-steps-server-change")
    await step.getByRole("button", { name: "Store it and connect" }).click()
    await page.getByRole("region", { name: "Pick a project" }).getByText("No project yet").waitFor()
    await look("first-steps-no-project")
  })

  it("prepares a project for the server, and leads to its screen", async () => {
    const { page } = open
    await mkdir(join(projects, "shop"))
    await writeFile(join(projects, "shop/Dockerfile"), "FROM scratch\nEXPOSE 8080\n")
    await page.reload()
    const step = page.getByRole("region", { name: "Pick a project" })
    await step.getByText(/^Berth writes container.json, compose.yml/).waitFor()
    expect(await step.getByLabel("Directory on the server").inputValue()).toBe("~/containers/shop")
    await look("first-steps-project")
    // A container.json that is there is never changed: one that names no server is told, and its fields are fixed.
    await mkdir(join(projects, "attic"))
    await writeFile(join(projects, "attic/Dockerfile"), "FROM scratch\n")
    await writeFile(join(projects, "attic/container.json"), "{}\n")
    await page.reload()
    await step.getByRole("combobox", { name: "Project" }).selectOption({ label: "attic" })
    await step.getByText("container.json names no server, and Berth does not change it: add \"serverId\": \"Main\"")
      .waitFor()
    expect(await step.getByLabel("Directory on the server").isDisabled()).toBe(true)
    expect(await step.getByRole("button", { name: "Write the files" }).isDisabled()).toBe(false)
    await stage.ask("POST", "/api/projects/init", { projectPath: join(projects, "attic") })
    await page.reload()
    await step.getByRole("combobox", { name: "Project" }).selectOption({ label: "attic" })
    await step.getByText(/^Berth writes nothing and leaves container.json/).waitFor()
    expect(await step.getByRole("button", { name: "Write the files" }).isDisabled()).toBe(true)
    await step.getByRole("combobox", { name: "Project" }).selectOption({ label: "shop" })
    await step.getByText(/^Berth writes container.json, compose.yml/).waitFor()
    await step.getByRole("button", { name: "Write the files" }).click()
    await page.getByRole("heading", { name: "shop", exact: true }).waitFor()
    expect(readFileSync(join(projects, "shop/container.json"), "utf8")).toContain("\"serverId\": \"Main\"")
    await page.getByRole("link", { name: "Overview", exact: true }).click()
    await step.getByRole("combobox", { name: "Project" }).selectOption({ label: "shop" })
    await step.getByText("It has what a deploy needs.").waitFor()
    expect(await step.getByRole("link", { name: "Deploy shop" }).getAttribute("href")).toBe("/projects/shop")
    await look("first-steps-prepared")
    await rewriteAnswers(page, "**/api/overview", async (route) => {
      const { firstStep, ...deployed } = await (await route.fetch()).json()
      expect(firstStep).toBe("deploy")
      await route.fulfill({ json: deployed })
    })
    await page.reload()
    await page.getByRole("heading", { name: "Overview", exact: true }).waitFor()
    expect(await page.getByRole("heading", { name: "First steps" }).count()).toBe(0)
    expect(open.faults).toEqual([])
  })
})
