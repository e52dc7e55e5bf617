import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { barriers, barriersInColours } from "./axe.ts"
import { deployHello, upsertHello } from "./hello.ts"
import { missing, openStage, picture, settled, type Stage } from "./stage.ts"

const looks = [["light", 1280, 900], ["dark", 1280, 900], ["light", 390, 844], ["dark", 390, 844]] as const

const screens: ReadonlyArray<readonly [name: string, path: string]> = [
  ["overview", "/"],
  ["project", "/projects/hello"],
  ["project-changes", "/projects/hello/changes"],
  ["project-runs", "/projects/hello/runs"],
  ["project-variables", "/projects/hello/variables"],
  ["project-application", "/projects/hello/application"],
  ["project-unready", "/projects/notes"],
  ["activity", "/activity"],
  ["run", "/activity/{run}"],
  ["logs", "/logs"],
  ["servers", "/servers"],
  ["server", "/servers/sandbox"],
  ["applications", "/applications"],
  ["application", "/applications/hello/hello"],
  ["application-live", "/applications/{greeter}"],
  ["routes", "/routes"],
  ["webhooks", "/webhooks"],
  ["settings", "/settings"],
  ["nowhere", "/no/such/screen"]
]

/** Overlays of a screen, and the action that opens each. */
const overlays: ReadonlyArray<readonly [name: string, path: string, open: (page: Page) => Promise<void>]> = [
  ["palette", "/", async (page) => {
    // Keys mean something once the page is drawn.
    await settled(page)
    await page.keyboard.press("Control+k")
    await page.getByRole("option").first().waitFor()
  }],
  ["deploy-question", "/projects/hello", async (page) => {
    await page.getByRole("button", { name: "Deploy 2 changes" }).click()
  }],
  ["remove-stack", "/projects/hello", async (page) => {
    await page.getByRole("button", { name: "More for hello" }).click()
    await page.getByRole("button", { name: "Remove", exact: true }).click()
    await page.getByRole("dialog").getByText("hello:latest").waitFor()
  }],
  ["upsert-question", "/applications/hello/hello", async (page) => {
    await page.getByRole("button", { name: /^Apply \d+ changes$/ }).click()
  }],
  ["remove-application", "/applications/hello/hello", async (page) => {
    await page.getByRole("button", { name: "Remove" }).click()
    await page.getByRole("dialog").getByText("route hello").waitFor()
  }],
  ["add-server", "/servers", async (page) => {
    await page.getByRole("button", { name: "Add a server" }).click()
  }],
  ["remove-server", "/servers/sandbox", async (page) => {
    await page.getByRole("button", { name: "Remove" }).click()
  }],
  ["add-route", "/routes", async (page) => {
    await page.getByRole("button", { name: "Add a route" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("Name").fill("extra")
    await dialog.getByLabel("Domain").fill("extra.sandbox.test")
    await dialog.getByLabel("Port").fill("2100")
    await dialog.getByRole("button", { name: "Show what would change" }).click()
    await dialog.getByText("extra-http").first().waitFor()
  }],
  ["remove-route", "/routes", async (page) => {
    await page.getByRole("button", { name: "Remove the route greeter" }).click()
    await page.getByRole("dialog").getByText("greeter.sandbox.test", { exact: false }).nth(1).waitFor()
  }],
  ["webhook-question", "/webhooks", async (page) => {
    await page.getByRole("region", { name: "greeter" }).getByRole("button", { name: "Set up" }).click()
  }]
]

/** Parts that can be scrolled sideways; those of a diff are out of reach here. */
const sideways = `[...document.querySelectorAll("body *")].filter((part) =>
  part.scrollWidth > part.clientWidth + 1 && ["auto", "scroll"].includes(getComputedStyle(part).overflowX)).map((part) => part.tagName + "." + part.className)`

const refusal = "The service cannot do this now: its disk is full"

describe.skipIf(missing !== undefined)(`every screen ${missing ?? ""}`, () => {
  let stage: Stage
  const ids = { run: "", greeter: "" }
  beforeAll(async () => {
    stage = await openStage()
    ids.run = await deployHello(stage)
    await upsertHello(stage)
    const greeter = /"uuid":"([^"]+)"/.exec(await stage.ask("GET", "/api/platform/apps/find/greeter"))
    ids.greeter = greeter?.[1] ?? ""
  })
  afterAll(() => stage?.close())

  it.each(screens)("%s can be used by everybody, keeps to itself, and fits on every screen", async (name, path) => {
    const { faults, page } = await stage.open(path.replace("{run}", ids.run).replace("{greeter}", ids.greeter))
    await settled(page)
    const found: Array<string> = []
    for (const [colorScheme, width, height] of looks) {
      await page.setViewportSize({ width, height })
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
      await settled(page)
      const overflow = Number(await page.evaluate("document.documentElement.scrollWidth - innerWidth"))
      if (overflow > 0) found.push(`${width}: is ${overflow} px too wide`)
      if (width < 1000) {
        const parts = String(await page.evaluate(sideways))
        if (parts !== "") found.push(`${width}: ${parts} scrolls sideways`)
      }
      // The narrow dark variant has the layout of the narrow and the colours of the dark one.
      const isNew = colorScheme === "light" || width > 1000
      if (isNew) found.push(...(await barriers(page)).map((each) => `${colorScheme} ${width}: ${each}`))
      await picture(page, `${name}-${colorScheme}-${width}`)
    }
    expect(found).toEqual([])
    expect(faults).toEqual([])
    await page.context().close()
  })

  it("asks its questions of everybody, and takes Escape for a no", async () => {
    const { faults, page } = await stage.open("/")
    for (const [name, path, show] of overlays) {
      await page.setViewportSize({ width: 1280, height: 900 })
      await page.goto(`${stage.service.url}${path}`)
      await show(page)
      await page.getByRole("dialog").waitFor()
      expect(await barriersInColours(page), name).toEqual([])
      await picture(page, `${name}-dark`)
      await page.setViewportSize({ width: 390, height: 844 })
      await picture(page, `${name}-dark-390`)
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth"), name).toBeLessThanOrEqual(0)
      await page.keyboard.press("Escape")
      await page.getByRole("dialog").waitFor({ state: "detached" })
    }
    expect(faults).toEqual([])
    await page.context().close()
  })

  it("says on every screen why nothing can be shown, instead of waiting for it", async () => {
    const { faults, page } = await stage.open("/no/such/screen")
    await page.route(
      "**/api/**",
      (route) =>
        route.fulfill({ status: 500, contentType: "application/json", body: JSON.stringify({ error: refusal }) })
    )
    for (const [name, path] of screens.filter(([name]) => name !== "nowhere")) {
      await page.goto(`${stage.service.url}${path.replace("{run}", ids.run).replace("{greeter}", ids.greeter)}`)
      await page.getByRole("main").getByRole("alert").filter({ hasText: refusal }).first().waitFor()
      await settled(page)
      expect(await page.locator("main .waiting").count(), name).toBe(0)
      if (["overview", "project", "application", "server"].includes(name)) await picture(page, `failed-${name}`)
    }
    expect(await barriersInColours(page)).toEqual([])
    expect(faults).toEqual([])
    // And it says so where there is nobody who could say why.
    await page.unrouteAll()
    await page.route("**/api/**", (route) => route.abort())
    for (const path of ["/", "/projects/hello", "/servers/sandbox", "/routes"]) {
      await page.goto(`${stage.service.url}${path}`)
      await page.getByText("It is asked again by itself", { exact: false }).waitFor()
      await picture(page, `silent-${path.split("/")[1] || "overview"}`)
    }
    await page.context().close()
  })
})
