import { readFile, writeFile } from "node:fs/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { barriersInColours } from "./axe.ts"
import { missing, openStage, picture, type Stage } from "./stage.ts"

const looks = [["light", 1360, 900], ["dark", 1360, 900], ["light", 390, 844], ["dark", 390, 844]] as const

describe.skipIf(missing !== undefined)(`the settings ${missing ?? ""}`, () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage()
  })
  afterAll(() => stage?.close())

  const stored = () => readFile(stage.world.settingsFile, "utf8")

  it("are changed after their diff, removed and refused in words", async () => {
    const { faults, page } = await stage.open("/settings", { viewport: { width: 1360, height: 900 } })
    const before = await stored()
    const deploys = page.getByRole("form", { name: "Deploys" })
    await deploys.getByLabel("deploy.keepReleases").fill("0")
    await deploys.getByRole("button", { name: "See the change" }).click()
    await deploys.getByRole("alert").getByText("must be a whole number from 1 to 100", { exact: false }).waitFor()
    await deploys.getByLabel("deploy.keepReleases").fill("3")
    await deploys.getByLabel("deploy.pull").selectOption("never")
    await deploys.getByRole("button", { name: "See the change" }).click()
    await deploys.getByText("keepReleases: 3").waitFor()
    await deploys.getByRole("region", { name: "Change of the settings file" }).scrollIntoViewIfNeeded()
    for (const [colorScheme, width, height] of looks) {
      await page.setViewportSize({ width, height })
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0)
      await picture(page, `settings-${colorScheme}-${width}`)
    }
    expect(await barriersInColours(page)).toEqual([])
    expect(await stored()).toBe(before)
    await page.setViewportSize({ width: 1360, height: 900 })
    await deploys.getByRole("button", { name: "Write the change" }).click()
    await deploys.getByRole("button", { name: "Remove deploy.keepReleases" }).waitFor()
    expect(await stored()).toContain("keepReleases: 3")
    await deploys.getByRole("button", { name: "Remove deploy.keepReleases" }).click()
    await deploys.getByText("will be removed").waitFor()
    await deploys.getByRole("button", { name: "See the change" }).click()
    await deploys.getByRole("button", { name: "Write the change" }).click()
    await deploys.getByText("will be removed").waitFor({ state: "detached" })
    expect(await stored()).not.toMatch(/keepReleases: \d/)
    expect(faults).toEqual([])
    await page.context().close()
  })

  it("has one item of a list a line, which may contain a comma", async () => {
    const { page } = await stage.open("/settings")
    const programs = page.getByRole("form", { name: "Programs" })
    await programs.getByLabel("editor.command").fill("code\n--args=a,b\n--wait")
    await programs.getByRole("button", { name: "See the change" }).click()
    await programs.getByRole("button", { name: "Write the change" }).click()
    await programs.getByRole("button", { name: "Remove editor.command" }).waitFor()
    expect(await programs.getByLabel("editor.command").inputValue()).toBe("code\n--args=a,b\n--wait")
    const listed = JSON.parse(await stage.ask("GET", "/api/settings"))
    expect(listed.settings.find(({ name }: { readonly name: string }) => name === "editor.command").value)
      .toEqual(["code", "--args=a,b", "--wait"])
    await page.context().close()
  })

  it("say to a caller with a token which ones are for the machine's user alone", async () => {
    const tokens = "\nhttp:\n  tokens: [{ name: Ann, token: token-of-ann-0123456789, role: operator }]\n"
    await writeFile(stage.world.settingsFile, `${await stored()}${tokens}`)
    const { page } = await stage.open("/settings")
    await page.getByLabel("Token").fill("token-of-ann-0123456789")
    await page.getByRole("button", { name: "Log in" }).click()
    const root = page.getByRole("textbox", { name: "projects.root" })
    await root.waitFor()
    expect(await root.isDisabled()).toBe(true)
    await page.getByText("berth settings set projects.root", { exact: false }).waitFor()
    expect(await page.getByLabel("deploy.pull").isDisabled()).toBe(false)
    await page.context().close()
  })

  it("log in with the ticket of the address, once, and say why one is refused", async () => {
    const { page } = await stage.open(`/settings#ticket_${"a".repeat(43)}`)
    await page.getByRole("alert").getByText("run berth open again", { exact: false }).waitFor()
    expect(new URL(page.url()).hash).toBe("")
    await page.route("**/api/session", async (route) => {
      const sent = route.request().postData() ?? ""
      expect(sent).toBe(JSON.stringify({ token: `ticket_${"b".repeat(43)}` }))
      // The service of this test has told nobody its private token: it takes this one in its place.
      await route.continue({ postData: JSON.stringify({ token: "token-of-ann-0123456789" }) })
      await page.unroute("**/api/session")
    })
    await page.goto(`${page.url()}#ticket_${"b".repeat(43)}`)
    await page.reload()
    await page.getByRole("table").getByText("Ann").waitFor()
    expect(new URL(page.url()).hash).toBe("")
    expect(await page.getByLabel("Name of a new token").isDisabled()).toBe(true)
    await page.context().close()
  })

  it("add the first token after its consequence, keep the page logged in, and show it once", async () => {
    const other = await openStage()
    const { faults, page } = await other.open("/settings", { viewport: { width: 1360, height: 900 } })
    const tokens = page.getByRole("region", { name: "Tokens", exact: true })
    await tokens.getByText("No token is needed").waitFor()
    await tokens.getByLabel("Name of a new token").fill("Ann")
    await tokens.getByLabel("Role").selectOption("operator")
    await tokens.getByRole("button", { name: "Add the token" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByText("It is the first token", { exact: false }).waitFor()
    await dialog.getByRole("button", { name: "Add the token" }).click()
    await tokens.getByText("The token of Ann, shown this once").waitFor()
    const shown = (await tokens.getByText(/^berth_/).textContent()) ?? ""
    expect(await readFile(other.world.settingsFile, "utf8")).toContain(`token: ${shown}`)
    await tokens.getByRole("table").getByText("http.tokens[0]").waitFor()
    await tokens.getByRole("button", { name: "Remove Ann" }).waitFor()
    for (const [colorScheme, width, height] of looks) {
      await page.setViewportSize({ width, height })
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
      await tokens.scrollIntoViewIfNeeded()
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0)
      await picture(page, `tokens-${colorScheme}-${width}`)
    }
    expect(await barriersInColours(page)).toEqual([])
    expect(faults).toEqual([])
    await page.context().close()
    await other.close()
  })
})
