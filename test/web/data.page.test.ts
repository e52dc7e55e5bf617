import { createHash } from "node:crypto"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { barriersInColours } from "./axe.ts"
import { deployHello } from "./hello.ts"
import { missing, type OpenPage, openStage, picture, type Stage } from "./stage.ts"

const definition = JSON.stringify({ items: { notes: { kind: "sqlite", service: "hello", path: "/data/notes.db" } } })

describe.skipIf(missing !== undefined)(`the data of a project ${missing ?? ""}`, () => {
  let stage: Stage
  let open: OpenPage
  const plantBackup = async (id: number, more: ReadonlyArray<string>, bytes = "the notes") => {
    const directory = join(stage.world.home, "containers/hello/.berth/backups", String(id))
    await mkdir(directory, { recursive: true })
    await writeFile(join(directory, "notes.gz"), bytes)
    const sha256 = createHash("sha256").update("the notes").digest("hex")
    await writeFile(
      join(directory, "manifest"),
      [
        `at\t2026-01-0${id}T03:04:05Z`,
        "release\t1",
        "by\tann@laptop",
        `definition\t${definition}`,
        `data\tnotes\tnotes.gz\t${bytes.length}\t${sha256}\t1`,
        ...more,
        ""
      ].join("\n")
    )
  }
  beforeAll(async () => {
    stage = await openStage()
    await deployHello(stage)
    open = await stage.open("/projects/hello/data")
  })
  afterAll(() => stage?.close())

  it("is empty at first, and says where it is declared", async () => {
    const part = open.page.getByRole("region", { name: "Backups", exact: true })
    await part.getByText("No backup yet").waitFor()
    await part.getByRole("button", { name: "Back up now" }).click()
    await open.page.getByText("add \"backups\" to container.json", { exact: false }).first().waitFor()
  })

  it("shows where each backup is, reads one again, and asks with the plan before a restore", async () => {
    await plantBackup(1, ["trigger\tdeploy", "copy\there\tverified", "copy\tvault\tfailed"])
    await plantBackup(2, ["trigger\trequest"], "the nodes")
    const { page } = open
    await page.reload()
    const part = page.getByRole("region", { name: "Backups", exact: true })
    await part.getByText("2 backups of 18 B on the server").waitFor()
    expect(await part.getByRole("listitem").allInnerTexts()).toEqual([
      expect.stringMatching(/^Backup 2\s+notes 9 B\s+release 1 · on request · ann@laptop\s+server\s/),
      expect.stringMatching(
        /^Backup 1\s+notes 9 B\s+release 1 · before a deploy · ann@laptop\s+server\s+here\s+vault: failed\s/
      )
    ])
    expect(await barriersInColours(page)).toEqual([])
    await part.getByRole("button", { name: "Verify backup 1" }).click()
    await part.getByText("Backup 1 is as it was written.").waitFor()
    await part.getByRole("button", { name: "Verify backup 2" }).click()
    await part.getByText("Backup 2 is not as it was written: notes is changed.").waitFor()
    await picture(page, "project-data")

    await part.getByRole("button", { name: "Restore backup 1" }).click()
    const dialog = page.getByRole("dialog", { name: "Restore backup 1 of hello?" })
    await dialog.getByText("What was written since the backup", { exact: false }).waitFor()
    await dialog.getByText("notes").waitFor()
    await picture(page, "project-restore")
    expect(await barriersInColours(page)).toEqual([])
    await dialog.getByRole("button", { name: "Put this data back" }).click()
    await dialog.waitFor({ state: "detached" })
    await expect.poll(() => stage.ask("GET", "/api/runs?limit=1")).toMatch(/"kind":"restore".*"door":"web"/)
    await page.getByRole("region", { name: "Last restore" }).waitFor()
  })
})
