// Writes the description of the API to a temporary directory, once as it is and once with a token, and lints both.
import { OpenApi } from "@effect/platform"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { BerthApi } from "../src/http/api/BerthApi.ts"
import { withToken } from "../src/http/pages.ts"

const directory = mkdtempSync(join(tmpdir(), "berth-openapi-"))
const root = join(dirname(fileURLToPath(import.meta.url)), "..")
const redocly = join(dirname(createRequire(import.meta.url).resolve("@redocly/cli/package.json")), "bin/cli.js")

const descriptions = {
  "without a token": OpenApi.fromApi(BerthApi),
  "with a token": OpenApi.fromApi(withToken({ api: BerthApi, context: BerthApi.annotations }).api)
}

try {
  for (const [name, description] of Object.entries(descriptions)) {
    const file = join(directory, "openapi.json")
    writeFileSync(file, JSON.stringify(description, null, 2))
    const { status, stderr, stdout } = spawnSync(
      process.execPath,
      [redocly, "lint", file, "--config", join(root, "redocly.yaml"), "--format", "json"],
      { encoding: "utf8", env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" } }
    )
    if (stdout.trim() === "") throw new Error(stderr)
    const { problems, totals: { errors, warnings } } = JSON.parse(stdout)
    for (const { location, message, ruleId, severity } of problems) {
      console.error(`${severity}: ${ruleId}: ${message} (${location.map(({ pointer }) => pointer).join(", ")})`)
    }
    console.log(`The description ${name}: ${errors} errors, ${warnings} warnings`)
    if (status !== 0 || errors + warnings > 0) process.exitCode = 1
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}
