import { Effect, Exit, Scope } from "effect"
import { randomBytes } from "node:crypto"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { makeImageArchive } from "../../src/sandbox/projects.ts"
import { openRelay } from "../fixtures/network/relay.ts"
import { missing, type OpenPage, openStage, picture, type Stage } from "./stage.ts"

const megabyte = 1_000_000
const size = 24 * megabyte

describe.skipIf(missing !== undefined)(`a deploy over a slow line ${missing ?? ""}`, () => {
  let stage: Stage
  let open: OpenPage
  let line: Scope.CloseableScope
  beforeAll(async () => {
    line = await Effect.runPromise(Scope.make())
    stage = await openStage(async ({ projects, server, settingsFile }) => {
      const layers = [{ hello: randomBytes(size) }]
      await writeFile(join(projects, "hello", "hello.tar"), makeImageArchive({ name: "hello:latest", layers }))
      const relay = await Effect.runPromise(
        Scope.extend(openRelay(server.port, { upBytesPerSecond: 2 * megabyte }), line)
      )
      const settings = await readFile(settingsFile, "utf8")
      await writeFile(settingsFile, settings.replace(`port: ${server.port}`, `port: ${relay.port}`))
    })
    open = await stage.open("/projects/hello")
  })
  afterAll(async () => {
    await stage?.close()
    await Effect.runPromise(Scope.close(line, Exit.void))
  })

  it("shows how many bytes have come, and takes back what it began when it is cancelled", async () => {
    const { page } = open
    await page.getByRole("button", { name: /^Deploy/ }).click()
    await page.getByRole("dialog").getByRole("button", { name: /^Deploy/ }).click()
    const run = page.getByRole("region", { name: "Deploying" })
    const sent = run.getByRole("progressbar", { name: "Bytes sent" })
    await sent.waitFor()
    await run.getByText(/^\d+(\.\d+)? [kM]B of 24\.\d MB$/).waitFor()
    const done = async () => Number(await sent.getAttribute("value"))
    const before = await done()
    await expect.poll(done).toBeGreaterThan(before)
    await run.getByText(/B\/s$/).waitFor()
    await picture(page, "project-deploying")
    await page.emulateMedia({ colorScheme: "dark" })
    await picture(page, "project-deploying-dark")

    await run.getByRole("button", { name: "Cancel" }).click()
    const question = page.getByRole("dialog", { name: "Cancel: Deploy hello?" })
    await question.getByText("undone as after a failure", { exact: false }).waitFor()
    await question.getByRole("button", { name: "Cancel the run" }).click()
    await page.getByRole("region", { name: "Last deploy" }).getByText("cancelled", { exact: true }).first().waitFor()
    await picture(page, "project-cancelled")
    // Next actions stand beside the outcome, on the project's screen and on that of the run.
    for (const opened of [false, true]) {
      if (opened) await page.getByRole("link", { name: "Open the run" }).click()
      await page.getByRole("group", { name: "What to do next" }).getByRole("button", { name: "Deploy again" }).click()
      await page.getByRole("dialog", { name: /^Deploy hello/ }).getByRole("button", { name: "Leave it" }).click()
    }
    await page.goBack()
    const { runs } = JSON.parse(await stage.ask("GET", "/api/runs?limit=1"))
    expect(runs[0]).toMatchObject({ kind: "deploy", state: "cancelled" })
    const { containers } = JSON.parse(await stage.ask("GET", `/api/servers/${stage.world.serverId}/containers`))
    expect(containers.map(({ name }: { readonly name: string }) => name)).toEqual(["greeter"])
    // Another deploy can begin at once.
    await expect.poll(() => page.getByRole("button", { name: /^Deploy \d+ changes/ }).isEnabled()).toBe(true)
    expect(open.faults).toEqual([])
  })
})
