import { createHash } from "node:crypto"
import { describe, expect, it } from "vitest"
import { buildContentSecurityPolicy } from "../../src/http/securityHeaders.ts"

const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`
const rest = "style-src 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

describe("the policy of a page", () => {
  it("lets it run the scripts that it came with, and those alone", () => {
    expect(buildContentSecurityPolicy("<p>x</p><script>one()</script>\n<SCRIPT type=\"module\">two()\n</SCRIPT>")).toBe(
      `default-src 'none'; script-src ${hash("one()")} ${hash("two()\n")} 'wasm-unsafe-eval'; ${rest}`
    )
  })

  it("lets one without scripts run none, and load none", () => {
    const policy = `default-src 'none'; script-src 'none'; ${rest}`
    expect(buildContentSecurityPolicy("<p>x</p>")).toBe(policy)
    expect(buildContentSecurityPolicy("<script src=\"https://evil.example/x.js\"></script>")).toBe(policy)
  })
})
