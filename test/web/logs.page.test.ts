import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { deployHello } from "./hello.ts"
import { missing, type OpenPage, openStage, picture, type Stage } from "./stage.ts"

const hostile = "<img src=x onerror=alert(1)>"
const many = 50_000
const more = 2_000

const line = (number: number) => {
  const time = new Date(Date.UTC(2026, 0, 2) + number).toISOString()
  const text = number === 3 ? hostile : `${number % 50 === 0 ? "WARN" : "INFO"} request ${number} GET /orders/${number}`
  return `event: line\ndata: ${JSON.stringify({ time, service: "hello", stream: "stdout", text })}\n\n`
}
const lines = (from: number, count: number) => Array.from({ length: count }, (_, index) => line(from + index)).join("")

/** Intervals between frames during scrolling, in milliseconds, ascending. */
const frames = `new Promise((resolve) => {
  const frame = document.querySelector(".logs")
  const gaps = []
  let last = performance.now()
  const next = (now) => {
    gaps.push(now - last)
    last = now
    frame.scrollTop = Math.abs(Math.sin(gaps.length / 40)) * frame.scrollHeight
    if (gaps.length < 120) requestAnimationFrame(next)
    else resolve(gaps.sort((a, b) => a - b))
  }
  requestAnimationFrame(next)
})`

describe.skipIf(missing !== undefined)(`a followed log ${missing ?? ""}`, () => {
  let stage: Stage
  let open: OpenPage
  beforeAll(async () => {
    stage = await openStage()
    await deployHello(stage)
    open = await stage.open("/")
    let sent = 0
    // More than the sandbox's containers say, in the form that the service gives it.
    await open.page.route("**/logs/follow?*", (route) => {
      const count = sent === 0 ? many : more
      sent += count
      return route.fulfill({ contentType: "text/event-stream", body: lines(sent - count, count) })
    })
    await open.page.goto(`${stage.service.url}/projects/hello`)
  })
  afterAll(() => stage?.close())

  const log = () => open.page.getByRole("log")

  it("follows its end, shows text as text, and draws no more than is in sight", async () => {
    await open.page.getByText(/^5\d,\d{3} lines|^50,000 lines/).first().waitFor()
    await log().getByText(/request \d+/).last().waitFor()
    await open.page.getByRole("button", { name: "Following" }).waitFor()
    expect(await log().locator(".log-line").count()).toBeLessThan(200)
    await log().scrollIntoViewIfNeeded()
    await picture(open.page, "logs")
  })

  it("stays smooth with 50,000 lines, and more on their way", async () => {
    const gaps = await open.page.evaluate(frames)
    const sorted = Array.isArray(gaps) ? gaps.map(Number) : []
    const median = sorted[Math.floor(sorted.length / 2)] ?? Infinity
    const slow = sorted[Math.floor(sorted.length * 0.9)] ?? Infinity
    process.stdout.write(
      `frames of a scrolled log of 50,000 lines: median ${median.toFixed(0)} ms, nine of ten under ${
        slow.toFixed(0)
      } ms\n`
    )
    // A frame takes 17 ms on a machine with nothing else to do.
    expect(median).toBeLessThan(150)
  })

  it("stops following when it is scrolled up, and goes on when asked", async () => {
    await open.page.getByRole("button", { name: /^Follow/ }).click()
    await open.page.getByRole("button", { name: "Following" }).waitFor()
    await log().hover()
    await open.page.mouse.wheel(0, -400)
    await open.page.getByRole("button", { name: "Follow", exact: true }).waitFor()
    await open.page.getByRole("button", { name: "Follow", exact: true }).click()
    await open.page.getByRole("button", { name: "Following" }).waitFor()
  })

  it("is filtered, from the keyboard", async () => {
    await open.page.getByRole("heading", { name: "hello" }).click()
    await open.page.keyboard.press("/")
    await open.page.keyboard.type("request 49999 ")
    await log().getByText("request 49999 ").waitFor()
    await open.page.getByText("– of 1 hit").waitFor()
    await open.page.keyboard.press("Escape")
    await open.page.getByText("– of 1 hit").waitFor({ state: "detached" })
    expect(open.faults).toEqual([])
  })
})
