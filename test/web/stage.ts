import { Effect, Exit, Scope } from "effect"
import { existsSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
  type Route
} from "playwright-core"
import { makeWorld, type World } from "../../src/sandbox/world.ts"
import { type Service, startService } from "../fixtures/programs/service.ts"

const here = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const executable = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) =>
  existsSync(path)
)

/** Reason why the tests of the page cannot run here. */
export const missing: string | undefined = executable === undefined
  ? "needs Chromium"
  : existsSync(here("dist/page/index.html"))
  ? undefined
  : "needs the built page: npm run test:page builds it"

/** Longest that a test waits for the page, in milliseconds: five times what a slow machine has needed. */
const patience = 100_000

/** The built page with the service that hands it out, in a world of its own, and a browser before it. */
export interface Stage {
  readonly world: World
  readonly service: Service
  readonly browser: Browser
  /** Opens an address of the page in a window of its own; what a page must never do is noted in `faults`. */
  readonly open: (path: string, options?: BrowserContextOptions) => Promise<OpenPage>
  /** Asks the service directly; answers the body. */
  readonly ask: (method: string, path: string, body?: unknown) => Promise<string>
  readonly close: () => Promise<void>
}

/** A window on the page. */
export interface OpenPage {
  readonly page: Page
  /** Errors in its console, refusals of its policy, and requests to anybody but the service. */
  readonly faults: ReadonlyArray<string>
}

/** Changes answers of the service; one that is under way when its window closes is for nobody. */
export const rewriteAnswers = (page: Page, url: string, rewrite: (route: Route) => Promise<void>) =>
  page.route(url, (route) =>
    rewrite(route).catch((cause: unknown) => {
      if (!/closed|disposed/.test(String(cause))) throw cause
    }))

const watched = (page: Page, url: string): ReadonlyArray<string> => {
  const faults: Array<string> = []
  // The browser logs deliberate failures of a test as page errors.
  const isAnswer = (text: string) => text.startsWith("Failed to load resource")
  page.on("console", (message) => {
    if (message.type() === "error" && !isAnswer(message.text())) faults.push(`console: ${message.text()}`)
  })
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`))
  page.on("request", (request) => {
    if (!request.url().startsWith(`${url}/`) && !request.url().startsWith("data:")) {
      faults.push(`foreign request: ${request.url()}`)
    }
  })
  return faults
}

/** The browser of all stages: it starts once, and ends with the process. */
let shared: Promise<Browser> | undefined
const theBrowser = () =>
  shared ??= chromium.launch({
    executablePath: executable ?? "",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage"]
  })

/** Starts a stage; `prepare` may change its world before the service starts. */
export const openStage = async (
  prepare: (world: World) => Promise<void> = () => Promise.resolve()
): Promise<Stage> => {
  const scope = await Effect.runPromise(Scope.make())
  const world = await Effect.runPromise(Scope.extend(makeWorld, scope))
  await prepare(world)
  const started = startService(world.settingsFile, "127.0.0.1", { page: here("dist/page") })
  const service = await Effect.runPromise(Scope.extend(started, scope))
  const browser = await theBrowser()
  const contexts: Array<BrowserContext> = []
  return {
    world,
    service,
    browser,
    open: async (path, options = {}) => {
      const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
      contexts.push(context)
      const page = await context.newPage()
      page.setDefaultTimeout(patience)
      const faults = watched(page, service.url)
      await page.goto(`${service.url}${path}`)
      return { page, faults }
    },
    ask: async (method, path, body) => (await Effect.runPromise(service.request(method, path, body))).text,
    close: async () => {
      await Promise.all(contexts.map((context) => context.close()))
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }
}

const isWaiting = `document.querySelector("main .waiting") !== null ||
  [...document.querySelectorAll("main .quiet, main .badge")].some(({ textContent }) => textContent.endsWith("…"))`

/** Waits until everything that the page shows has arrived. */
export const settled = async (page: Page): Promise<void> => {
  await page.locator("h1").first().waitFor()
  for (let left = patience / 100; left > 0 && await page.evaluate(isWaiting); left--) await page.waitForTimeout(100)
}

/** Keeps a picture of the page under this name, for people to look at. */
export const picture = async (page: Page, name: string): Promise<void> => {
  const directory = here("test/web/screens")
  await mkdir(directory, { recursive: true })
  await page.screenshot({ path: `${directory}/${name}.png`, fullPage: false })
}
