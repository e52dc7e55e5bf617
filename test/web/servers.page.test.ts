import { Effect, Redacted } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { barriersInColours } from "./axe.ts"
import { missing, type OpenPage, openStage, picture, type Stage } from "./stage.ts"

const looks = [["light", 1280, 900], ["dark", 1280, 900], ["light", 390, 844], ["dark", 390, 844]] as const

// The files of the SSH client are in the home directory.
const homeBefore = process.env["HOME"]
const home = mkdtempSync(join(tmpdir(), "berth-page-home-"))
process.env["HOME"] = home
afterAll(() => {
  process.env["HOME"] = homeBefore
  rmSync(home, { recursive: true })
})

describe.skipIf(missing !== undefined)(`servers and the log-in ${missing ?? ""}`, () => {
  let stage: Stage
  let open: OpenPage
  beforeAll(async () => {
    stage = await openStage()
    const { host, port } = stage.world.server
    await mkdir(join(home, ".ssh"))
    await writeFile(join(home, ".ssh/attic_key"), "no key", { mode: 0o600 })
    await writeFile(
      join(home, ".ssh/config"),
      `Host attic\n  HostName ${host}\n  Port ${port}\n  User ann\n  IdentityFile ~/.ssh/attic_key\n` +
        "  ProxyJump deb@bastion.invalid\n",
      { mode: 0o600 }
    )
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
    await dialog.getByLabel("Host", { exact: true }).fill(server.host)
    await dialog.getByLabel("SSH port").fill(String(server.port))
    await dialog.getByLabel("User").fill(server.username)
    await dialog.getByLabel("Log in with").selectOption({ label: "a password" })
    await dialog.getByRole("textbox", { name: "Password" }).fill(password)
    await dialog.getByLabel("Docker and files need sudo there").check()
    return dialog
  }
  const add = async (name: string, password: string) => {
    const dialog = await fillIn(name, password)
    await dialog.getByRole("button", { name: "See the change" }).click()
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

  it("take what the SSH configuration says of an alias, and keep what was typed", async () => {
    const { page } = open
    const { server } = stage.world
    await page.goto(`${stage.service.url}/servers`)
    await page.getByRole("button", { name: "Add a server" }).click()
    const dialog = page.getByRole("dialog", { name: "Add a server" })
    const values = async (...labels: ReadonlyArray<string>) =>
      Promise.all(labels.map((label) => dialog.getByLabel(label, { exact: label === "Host" }).inputValue()))
    await dialog.getByLabel("User").fill("typed")
    await dialog.getByLabel("Host", { exact: true }).fill("attic")
    await dialog.getByLabel("SSH port").focus()
    await dialog.getByRole("status").getByText("is a Host of the SSH configuration", { exact: false }).waitFor()
    expect(await values("Name", "Host", "SSH port", "User", "Jump hosts")).toEqual(
      ["attic", server.host, String(server.port), "typed", "deb@bastion.invalid"]
    )
    expect(await dialog.getByRole("textbox", { name: "Key file" }).inputValue()).toBe(join(home, ".ssh/attic_key"))
    await dialog.getByRole("status").getByText(`${join(home, ".ssh/config")}:3`).waitFor()
    for (const [colorScheme, width, height] of looks) {
      await page.setViewportSize({ width, height })
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
      await dialog.getByRole("status").scrollIntoViewIfNeeded()
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0)
      await picture(page, `add-server-alias-${colorScheme}-${width}`)
    }
    expect(await barriersInColours(page)).toEqual([])
    await page.setViewportSize({ width: 1280, height: 900 })
    await dialog.getByLabel("Host", { exact: true }).fill("no-alias.invalid")
    await dialog.getByLabel("SSH port").focus()
    await dialog.getByRole("status").waitFor({ state: "detached" })
    expect(await values("Host")).toEqual(["no-alias.invalid"])
    await dialog.getByRole("button", { name: "Leave it" }).click()
  })

  it("show the jump hosts that they are reached through, and which of them is away", async () => {
    const { page } = open
    const dialog = await fillIn("Behind", Redacted.value(stage.world.server.password))
    await dialog.getByLabel("Jump hosts").fill("deb@127.0.0.1:1")
    await dialog.getByRole("button", { name: "See the change" }).click()
    await dialog.getByRole("button", { name: "Store it and connect" }).click()
    await page.getByRole("heading", { name: "Behind" }).waitFor()
    await page.getByText("deb@127.0.0.1:1", { exact: true }).waitFor()
    await page.getByRole("alert").filter({ hasText: "its jump host deb@127.0.0.1:1 cannot be used" }).first().waitFor()
    await picture(page, "server-behind-jump")
  })

  it("are tested before they are stored: first the fingerprint alone, then everything", async () => {
    const { page } = open
    // A second address of the same server, whose key is not remembered.
    const dialog = await fillIn("Fresh", Redacted.value(stage.world.server.password))
    await dialog.getByLabel("Host", { exact: true }).fill("localhost")
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

  it("are edited with the same form, and keep the credentials that are left out", async () => {
    const { page } = open
    await page.goto(`${stage.service.url}/servers/sandbox`)
    await page.getByRole("button", { name: "Edit", exact: true }).click()
    const dialog = page.getByRole("dialog", { name: "Edit Sandbox" })
    expect(await dialog.getByLabel("Host", { exact: true }).inputValue()).toBe(stage.world.server.host)
    expect(await dialog.getByLabel("Log in with").inputValue()).toBe("stored")
    await dialog.getByRole("button", { name: "Test the connection" }).click()
    await dialog.getByText(/^Docker \d/).waitFor()
    await dialog.getByLabel("Name").fill("Sandbox of Ann")
    await dialog.getByRole("button", { name: "See the change" }).click()
    const change = dialog.getByRole("region", { name: "Change of the settings file" })
    await change.getByText("Sandbox of Ann").waitFor()
    for (const [colorScheme, width, height] of looks) {
      await page.setViewportSize({ width, height })
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0)
      await change.scrollIntoViewIfNeeded()
      await picture(page, `edit-server-${colorScheme}-${width}`)
    }
    expect(await barriersInColours(page)).toEqual([])
    await page.setViewportSize({ width: 1280, height: 900 })
    await dialog.getByRole("button", { name: "Store the change" }).click()
    await page.getByRole("heading", { name: "Sandbox of Ann" }).waitFor()
    await page.getByText("answers", { exact: true }).waitFor()
    await page.getByRole("button", { name: "Edit", exact: true }).click()
    const again = page.getByRole("dialog", { name: "Edit Sandbox of Ann" })
    await again.getByLabel("Name").fill("Sandbox")
    await again.getByRole("button", { name: "See the change" }).click()
    await again.getByRole("button", { name: "Store the change" }).click()
    await page.getByRole("heading", { name: "Sandbox", exact: true }).waitFor()
  })

  it("are stored with the key that was confirmed, which Berth insists on", async () => {
    const { page } = open
    const dialog = await fillIn("Pinned", Redacted.value(stage.world.server.password))
    await dialog.getByLabel("Host", { exact: true }).fill("localhost")
    await dialog.getByRole("button", { name: "Test the connection" }).click()
    await dialog.getByRole("button", { name: "It is the same: log in" }).click()
    await dialog.getByText(/^Docker \d/).waitFor()
    const sent = page.waitForRequest((request) => request.url().endsWith("/api/servers") && request.method() === "POST")
    await dialog.getByRole("button", { name: "See the change" }).click()
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
    // Its disk usage is still shown.
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
