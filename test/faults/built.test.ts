import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { version } from "../../src/schema/session.ts"
import { startBerth } from "../fixtures/berthProcess.ts"
import { patience } from "../fixtures/patience.ts"
import { settingsFileWith } from "../fixtures/programs/service.ts"
import { requestTo } from "../sandbox/request.ts"

const packed = fileURLToPath(new URL("../../dist/service/berth.js", import.meta.url))

it.scopedLive(
  "the service as it is built answers, shows its reference, and ends cleanly",
  () =>
    Effect.gen(function*() {
      const berth = yield* startBerth(yield* settingsFileWith("# nothing\n"), [packed])
      const request = requestTo(berth.url, {})
      expect(yield* request("GET", "/api/health")).toMatchObject({ status: 200, body: { status: "ok" } })
      expect(yield* request("GET", "/api/servers")).toMatchObject({ status: 200, body: [] })
      const described = yield* request("GET", "/openapi.json")
      expect(described.body).toMatchObject({ openapi: "3.1.0", info: { version } })
      const page = yield* request("GET", "/reference")
      expect(page.status).toBe(200)
      // The page brings its script along.
      expect(String(page.body).length).toBeGreaterThan(1_000_000)
      expect(berth.output()).not.toMatch(/\n\s+at |Warning/)
      yield* berth.kill("SIGTERM")
      expect((yield* berth.ended).signal).toBeNull()
    }),
  60_000 * patience
)

/** The built files that Node reads before the program begins: this one, and what each of them imports. */
const readAtStart = (file: string, read: Map<string, string> = new Map()): Map<string, string> => {
  if (read.has(file)) return read
  const text = readFileSync(file, "utf8")
  read.set(file, text)
  for (const [, name] of text.matchAll(/(?:\bfrom|\bimport)\s*"(\.\/[^"]+)"/g)) {
    if (name !== undefined) readAtStart(join(dirname(file), name), read)
  }
  return read
}

it("the service reads no more at its start than what it needs to answer", () => {
  const texts = [...readAtStart(packed).values()]
  expect(texts.length).toBeGreaterThan(5)
  // It was 3.2 MB with all of Effect's modules and undici.
  expect(texts.reduce((sum, text) => sum + text.length, 0)).toBeLessThan(2_100_000)
  for (const text of texts) {
    expect(text).not.toMatch(/\b(?:from|import)\s*"(?:ssh2|libsql|pg)"/)
    expect(text).not.toContain("node_modules/undici")
  }
})
