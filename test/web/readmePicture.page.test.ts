import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { hostname, userInfo } from "node:os"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { missing, openStage, settled, type Stage } from "./stage.ts"

const userAtMachine = `${userInfo().username}@${hostname()}`
const file = fileURLToPath(new URL("../../docs/page.png", import.meta.url))

/** The share of pixels in which two pictures differ visibly; 1 where their sizes do. */
const differing = `async ([one, other]) => {
  const pixels = async (png) => {
    const image = new Image()
    image.src = "data:image/png;base64," + png
    await image.decode()
    const canvas = new OffscreenCanvas(image.width, image.height)
    const context = canvas.getContext("2d")
    context.drawImage(image, 0, 0)
    return context.getImageData(0, 0, image.width, image.height)
  }
  const [a, b] = [await pixels(one), await pixels(other)]
  if (a.width !== b.width || a.height !== b.height) return 1
  let count = 0
  for (let at = 0; at < a.data.length; at += 4) {
    const far = [0, 1, 2].some((channel) => Math.abs(a.data[at + channel] - b.data[at + channel]) > 48)
    if (far) count += 1
  }
  return count / (a.width * a.height)
}`

describe.skipIf(missing !== undefined)(`the picture in the README ${missing ?? ""}`, () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage()
  })
  afterAll(() => stage?.close())

  it("shows the page as it is: a run that finds it outdated writes it anew", async () => {
    const { page } = await stage.open("/projects/hello/changes", {
      viewport: { width: 1280, height: 800 },
      colorScheme: "light"
    })
    await page.emulateMedia({ reducedMotion: "reduce" })
    await settled(page)
    await page.getByText(userAtMachine).first().waitFor({ state: "attached" })
    await page.evaluate(`(() => {
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
      while (texts.nextNode()) {
        texts.currentNode.data = texts.currentNode.data.replace(${JSON.stringify(userAtMachine)}, "you@machine")
      }
    })()`)
    const now = await page.screenshot()
    const blank = await page.context().newPage()
    const share = existsSync(file)
      ? Number(
        await blank.evaluate(
          `(${differing})(${JSON.stringify([now, readFileSync(file)].map((png) => png.toString("base64")))})`
        )
      )
      : 1
    // Names of the machine and times differ from run to run.
    if (share > 0.02) writeFileSync(file, now)
    // Fonts of other machines differ more; what CI draws is what is committed.
    if (process.env["BERTH_REQUIRE_REAL"] === "1") {
      expect(share, "docs/page.png shows an older page: npm run test:page wrote the new one, commit it").toBeLessThan(
        0.1
      )
    }
    await page.context().close()
  })
})
