import { describe, expect, it } from "@effect/vitest"
import { Redacted } from "effect"
import { scrubText } from "../../../src/services/masking.ts"
import { patience } from "../../fixtures/patience.ts"

const secret = "p@ss \"wörd\" +/=*'1"
const base64 = (text: string) => Buffer.from(text).toString("base64")

/** The longest part of a text that stands between two others. */
const leaks = (text: string, form: string, length: number) =>
  Array.from({ length: form.length - length + 1 }, (_, at) => form.slice(at, at + length)).filter((part) =>
    text.includes(part)
  )

describe("scrubbed", () => {
  it.each([
    ["raw", secret],
    ["in JSON", JSON.stringify({ secret })],
    ["in a URL", `https://h/?q=${encodeURIComponent(secret)}`],
    ["in a URL in lower case", encodeURIComponent(secret).toLowerCase()],
    ["in a strict URL", encodeURIComponent(secret).replace("'", "%27").replace("*", "%2A")],
    ["in a form", new URLSearchParams({ secret }).toString()],
    ["in JSON within JSON", JSON.stringify({ message: JSON.stringify({ secret }) })],
    ["in JSON as PHP writes it", JSON.stringify(secret).replaceAll("/", "\\/").replace("ö", "\\u00f6")],
    ["in HTML as PHP writes it", secret.replaceAll("\"", "&quot;").replaceAll("'", "&#039;")],
    ["in HTML as Go writes it", secret.replaceAll("\"", "&#34;").replaceAll("'", "&#39;")],
    ["in JSON within HTML", `<pre>${JSON.stringify({ secret }).replaceAll("\"", "&quot;").replaceAll("'", "&#x27;")}`],
    ["twice", `${secret}${secret}`]
  ])("replaces a secret %s", (_name, text) => {
    const shown = scrubText(text, [Redacted.make(secret)])
    expect(shown).toContain("***")
    expect(shown).not.toMatch(/w(ö|%c3%b6|\\u00f6)rd/i)
  })

  it.each(["", "u:", "me:", "ann:", "user1:"])(
    "replaces a secret in the base64 of a longer text, behind %j",
    (before) => {
      for (const after of ["", "@", "@h", "@host"]) {
        for (const form of [base64(before + secret + after), base64(before + secret + after).replaceAll("/", "_")]) {
          const shown = scrubText(`Basic ${form}!`, [Redacted.make(secret)])
          expect(shown).toContain("***")
          expect(leaks(shown, base64(secret), 6)).toEqual([])
        }
      }
    }
  )

  it("replaces a secret in the base64 of addresses", () => {
    const signs = "??>>~~\u00ff\u00fe??>>"
    const form = base64(`me:${signs}`)
    expect(form).toMatch(/\+.*\/|\/.*\+/)
    for (const text of [form, form.replaceAll("+", "-").replaceAll("/", "_")]) {
      expect(scrubText(text, [Redacted.make(signs)])).toMatch(/^.{0,6}\*{3}.{0,4}$/)
    }
  })

  it("replaces the longer of two secrets first", () => {
    expect(scrubText("a token-long b", [Redacted.make("token"), Redacted.make("token-long")])).toBe("a *** b")
  })

  it("leaves nothing of secrets that overlap", () => {
    expect(scrubText("a first-last b", [Redacted.make("first-la"), Redacted.make("t-last")])).toBe("a *** b")
  })

  it("replaces what is left of a secret at the start of a text whose beginning was cut off", () => {
    const secrets = [Redacted.make("hunter2-hunter2")]
    expect(scrubText("nter2 and hunter2-hunter2", secrets)).toBe("nter2 and ***")
    expect(scrubText("nter2 and hunter2-hunter2", secrets, { cut: true })).toBe("*** and ***")
    expect(scrubText("er2 and so on", secrets, { cut: true })).toBe("er2 and so on")
  })

  it("takes no longer for many secrets than for few, and a megabyte in one go", () => {
    const secrets = Array.from({ length: 400 }, (_, index) => Redacted.make(`password/"${index}`))
    const text = "passing words of a server ".repeat(40_000)
    scrubText("", secrets)
    const began = process.cpuUsage()
    expect(scrubText(`${text}password/"399`, secrets)).toBe(`${text}***`)
    // Of the processor: another program's time is none of this one's.
    expect(process.cpuUsage(began).user / 1_000).toBeLessThan(1_000 * patience)
  })

  it("leaves other words and tiny secrets alone", () => {
    expect(scrubText("the cat sat", [Redacted.make("at"), Redacted.make(""), Redacted.make("hunter2")])).toBe(
      "the cat sat"
    )
  })
})
