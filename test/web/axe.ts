import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type { Page } from "playwright-core"

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")
const violations = `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
  violations.map(({ help, id, nodes }) => id + ": " + help + " at " + nodes.slice(0, 3).map(({ html }) => html).join(" ")))`

/** Accessibility violations of the page as it is; empty when there are none. */
export const barriers = async (page: Page): Promise<ReadonlyArray<string>> => {
  if (await page.evaluate("typeof axe") === "undefined") await page.evaluate(axe)
  const found = await page.evaluate(violations)
  return (Array.isArray(found) ? found : []).map(String)
}

/** The same in light and in dark colours. */
export const barriersInColours = async (page: Page): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
    found.push(...(await barriers(page)).map((each) => `${colorScheme}: ${each}`))
  }
  return found
}
