import { Option, Redacted } from "effect"
import { createHmac } from "node:crypto"
import { expect, it } from "vitest"
import type { NotifyMessage } from "../../../src/schema/notify.ts"
import { render } from "../../../src/services/notify/Post.ts"

const message = (title: string, text: string): NotifyMessage => ({
  id: "run1.team",
  event: "failed",
  time: "2026-01-02T03:04:05.678Z",
  title,
  text,
  run: null,
  drift: null
})
const none = Option.none<Redacted.Redacted>()
const hostile = "<!channel> @everyone <@1> [pay](https://evil.test) **b** `c` & \u001b[31m\u202e ok\r\nX-Evil: 1"
const bodyOf = (format: "slack" | "discord", text = hostile) =>
  JSON.parse(render(format, message("Deploy of a_b failed", text), none, 1).body)

it("json is signed over the time and the very bytes of the body", () => {
  const { body, headers } = render("json", message("t", hostile), Option.some(Redacted.make("key")), 1_700_000_000)
  const expected = createHmac("sha256", "key").update(`1700000000.${body}`).digest("hex")
  expect(headers["berth-signature"]).toBe(`t=1700000000,v1=${expected}`)
  expect([headers["berth-event"], headers["berth-delivery"]]).toEqual(["failed", "run1.team"])
  expect(JSON.parse(body)).toEqual(message("t", hostile))
  expect(render("json", message("t", ""), none, 1).headers).not.toHaveProperty("berth-signature")
})

it("Slack gets text without mentions, links or markup", () => {
  const { text, ...options } = bodyOf("slack")
  expect(options).toEqual({ mrkdwn: false, link_names: false, unfurl_links: false, unfurl_media: false })
  expect(text).toContain("&lt;!channel&gt; @everyone &lt;@1&gt;")
  expect(text).toContain("&amp;")
  expect(text).not.toMatch(/[<>\u001b\u202e\r]/)
})

it("Discord gets text that mentions nobody, within its limit", () => {
  const { allowed_mentions, content } = bodyOf("discord")
  expect(allowed_mentions).toEqual({ parse: [] })
  expect(content).toMatch(/^\*\*Deploy of a\\_b failed\*\*\n/)
  expect(content).toContain("\\<!channel\\> \\@everyone")
  expect(content).toContain("\\[pay\\](https")
  expect(bodyOf("discord", "*".repeat(10_000)).content.length).toBeLessThan(2_000)
})

it.each(["a\r\nX-Evil: 1", "línea\nX: 1", "=?UTF-8?Q?evil?=", "\0\u001b[31m", "🚢".repeat(200)])(
  "ntfy gets one header line of ASCII for the title %j",
  (title) => {
    const { body, headers } = render("ntfy", message(title, hostile), Option.some(Redacted.make("tk_1")), 1)
    for (const value of Object.values(headers)) expect(value).toMatch(/^[\x20-\x7e]*$/)
    expect(headers["authorization"]).toBe("Bearer tk_1")
    expect(body).not.toMatch(/[\u001b\u202e\r]/)
  }
)

it("ntfy decodes a title beyond ASCII", () => {
  const { headers } = render("ntfy", message("Größe", ""), none, 1)
  const [, word = ""] = /^=\?UTF-8\?B\?(.*)\?=$/.exec(headers["title"] ?? "") ?? []
  expect(Buffer.from(word, "base64").toString()).toBe("Größe")
})
