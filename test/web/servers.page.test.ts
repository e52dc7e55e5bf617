import { Effect, Redacted } from "effect"
import { readFile, writeFile } from "node:fs/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { barriersInColours } from "./axe.ts"
import { missing, type OpenPage, openStage, picture, type Stage } from "./stage.ts"

describe.skipIf(missing !== undefined)(`servers and the log-in ${missing ?? ""}`, () => {
  let stage: Stage
  let open: OpenPage
  beforeAll(async () => {
    stage = await openStage()
    open = await stage.open("/servers")
  })
  afterAll(() => stage?.close())

  const fillIn = async (name: string, password: string) => {
    const { page } = open
    await page.getByRole("link", { name: "Servers", exact: true }).first().click()
    await page.getByRole("button", { name: "Add a server" }).click()
    const dialog = page.getByRole("dialog", { name: "Add a server" })
    const { server } = stage.world
    await dialog.getByLabel("Name").fill(name)
    await dialog.getByLabel("Host").fill(server.host)
    await dialog.getByLabel("SSH port").fill(String(server.port))
    await dialog.getByLabel("User").fill(server.username)
    await dialog.getByLabel("Log in with").selectOption({ label: "a password" })
    await dialog.getByRole("textbox", { name: "Password" }).fill(password)
    await dialog.getByLabel("Docker and files need sudo there").check()
    return dialog
  }
  const add = async (name: string, password: string) => {
    const dialog = await fillIn(name, password)
    await dialog.getByRole("button", { name: "Store it and connect" }).click()
    await open.page.getByRole("heading", { name }).waitFor()
  }

  it("show what runs on one, what it uses, its log, and what belongs to no project here", async () => {
    const { page } = open
    await page.getByRole("link", { name: "Sandbox" }).first().click()
    const containers = page.getByRole("region", { name: "Containers", exact: true })
    await containers.getByText(/%$/).first().waitFor()
    await page.getByRole("region", { name: "Deployed" }).getByText("no project here").waitFor()
    await containers.getByRole("button", { name: "Log" }).click()
    await page.getByRole("log").getByText("greeter", { exact: false }).first().waitFor()
  })

  it("are tested before they are stored: first the fingerprint alone, then everything", async () => {
    const { page } = open
    // A second address of the same server, whose key is not remembered.
    const dialog = await fillIn("Fresh", Redacted.value(stage.world.server.password))
    await dialog.getByLabel("Host").fill("localhost")
    await dialog.getByRole("button", { name: "Test the connection" }).click()
    await dialog.getByText(stage.world.server.fingerprint).waitFor()
    await dialog.getByText("no credential was sent", { exact: false }).waitFor()
    await picture(page, "connection-test-new")
    await dialog.getByRole("button", { name: "It is the same: log in" }).click()
    await dialog.getByText(/^Docker \d/).waitFor()
    await picture(page, "connection-test")
    await dialog.getByLabel("User").fill("somebody")
    await dialog.getByText(stage.world.server.fingerprint).waitFor({ state: "detached" })
    await dialog.getByRole("button", { name: "Leave it" }).click()
    await page.getByRole("link", { name: "Servers", exact: true }).first().click()
    expect(await page.getByRole("link", { name: "Fresh" }).count()).toBe(0)
  })

  it("are stored with the key that was confirmed, which Berth insists on", async () => {
    const { page } = open
    const dialog = await fillIn("Pinned", Redacted.value(stage.world.server.password))
    await dialog.getByLabel("Host").fill("localhost")
    await dialog.getByRole("button", { name: "Test the connection" }).click()
    await dialog.getByRole("button", { name: "It is the same: log in" }).click()
    await dialog.getByText(/^Docker \d/).waitFor()
    const sent = page.waitForRequest((request) => request.url().endsWith("/api/servers") && request.method() === "POST")
    await dialog.getByRole("button", { name: "Store it and connect" }).click()
    expect((await sent).postDataJSON()).toMatchObject({ hostKey: stage.world.server.fingerprint })
    await page.getByRole("heading", { name: "Pinned" }).waitFor()
  })

  it("are added, and say at once whether they can be used", async () => {
    await add("Second", Redacted.value(stage.world.server.password))
    await open.page.getByText("answers", { exact: true }).waitFor()
    await add("Third", "wrong")
    await open.page.getByText("cannot be used", { exact: true }).waitFor()
    await open.page.getByRole("alert").filter({ hasText: /authentication/i }).first().waitFor()
    await picture(open.page, "server-refused")
    expect(await open.page.content()).not.toContain(Redacted.value(stage.world.server.password))
  })

  it("tell a Docker that is down from a server that does not answer", async () => {
    const { page } = open
    const { setFlaw } = stage.world.standIns
    await Effect.runPromise(setFlaw("docker-is-down", true))
    await page.goto(`${stage.service.url}/servers/sandbox`)
    await page.getByText("Docker cannot be used", { exact: true }).first().waitFor()
    await page.getByRole("alert").filter({ hasText: "Docker daemon" }).first().waitFor()
    await page.getByText("Sandbox itself answers", { exact: false }).waitFor()
    // What lies on its disk is still told.
    await page.getByRole("progressbar", { name: /^Disk of stacks/ }).waitFor()
    await page.getByRole("region", { name: "Deployed" }).getByText("no project here").waitFor()
    await picture(page, "server-docker-down")
    await Effect.runPromise(setFlaw("docker-is-down", false))
    await page.getByRole("button", { name: "Look again" }).click()
    await page.getByText("answers", { exact: true }).waitFor()
    await page.getByRole("link", { name: "Servers", exact: true }).first().click()
    await page.getByRole("link", { name: "Third" }).first().click()
    await page.getByRole("heading", { name: "Third" }).waitFor()
  })

  it("are removed after a question", async () => {
    const { page } = open
    await page.getByRole("button", { name: "Remove" }).click()
    await page.getByRole("button", { name: "Remove it from the settings" }).click()
    await page.getByRole("heading", { name: "Servers", exact: true }).waitFor()
    await page.getByRole("link", { name: "Third" }).first().waitFor({ state: "detached" })
    expect(open.faults).toEqual([])
  })

  it("ask for the token where one is required, and let in who has it", async () => {
    const { settingsFile } = stage.world
    await writeFile(settingsFile, `${await readFile(settingsFile, "utf8")}\nhttp:\n  token: open-sesame\n`)
    const { faults, page } = await stage.open("/servers/sandbox")
    await page.getByRole("heading", { name: "Log in" }).waitFor()
    await picture(page, "log-in")
    expect(await barriersInColours(page)).toEqual([])
    await page.getByLabel("Token").fill("guessed")
    await page.getByRole("button", { name: "Log in" }).click()
    await page.getByRole("alert").waitFor()
    await page.getByLabel("Token").fill("open-sesame")
    await page.getByRole("button", { name: "Log in" }).click()
    await page.getByRole("heading", { name: "Sandbox" }).waitFor()
    const kept = "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])"
    expect(await page.evaluate(kept)).not.toContain("open-sesame")
    await page.reload()
    await page.getByRole("heading", { name: "Sandbox" }).waitFor()
    await page.getByRole("button", { name: "Log out" }).click()
    await page.getByRole("heading", { name: "Log in" }).waitFor()
    expect(faults).toEqual([])
  })
})
