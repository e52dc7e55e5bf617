import { Option, Redacted } from "effect"
import { createHmac } from "node:crypto"
import type { NotifyMessage } from "../../schema/notify/Notify.ts"
import type { NotifyFormat } from "../../schema/notify/NotifyTarget.ts"
import { version } from "../../schema/version.ts"
import { shortenMessage } from "./describeRun.ts"

/**
 * Value of `Berth-Signature`: the time in seconds and the HMAC-SHA256 of `time.body` in hexadecimal, with the secret of
 * the target as the key.
 */
const signature = (secret: Redacted.Redacted, seconds: number, body: string): string =>
  `t=${seconds},v1=${createHmac("sha256", Redacted.value(secret)).update(`${seconds}.${body}`).digest("hex")}`

/** Body and headers of a request to a target. */
export interface RenderedMessage {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

// Stays below Discord's limit of 2,000 characters even if every character is escaped.
const mostForDiscord = 750

/** Removes control characters except line breaks. */
const printable = (text: string): string => text.replace(/[^\P{C}\n]/gu, "")

/** Slack parses these three characters as the start of a link, a mention or an entity. */
const forSlack = (text: string): string =>
  printable(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

/** Escapes every character with a meaning in Discord's Markdown. */
const forDiscord = (text: string): string => printable(text).replace(/[\\`*_~|>[\]#<@]/g, "\\$&")

/** Header value on one line; encoded as an RFC 2047 word if it is not ASCII. */
const forHeader = (text: string): string => {
  const line = printable(text).replace(/\s+/g, " ").trim()
  return /^[\x20-\x7e]*$/.test(line) && !line.includes("=?")
    ? line
    : `=?UTF-8?B?${Buffer.from(shortenMessage(line, 120)).toString("base64")}?=`
}

const plain = ({ text, title }: NotifyMessage): string => text === "" ? title : `${title}\n${text}`

const isGood = ({ event }: NotifyMessage): boolean => event === "succeeded" || event === "test"

const json = (value: unknown, headers: Readonly<Record<string, string>> = {}): RenderedMessage => ({
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(value)
})

const renderers: {
  readonly [Format in NotifyFormat]: (
    message: NotifyMessage,
    secret: Option.Option<Redacted.Redacted>,
    seconds: number
  ) => RenderedMessage
} = {
  json: (message, secret, seconds) => {
    const { body, headers } = json(message, { "berth-event": message.event, "berth-delivery": message.id })
    return Option.match(secret, {
      onNone: () => ({ body, headers }),
      onSome: (key) => ({ body, headers: { ...headers, "berth-signature": signature(key, seconds, body) } })
    })
  },
  slack: (message) =>
    json({
      text: forSlack(plain(message)),
      mrkdwn: false,
      link_names: false,
      unfurl_links: false,
      unfurl_media: false
    }),
  discord: ({ text, title }) => {
    const heading = `**${forDiscord(title)}**`
    const content = text === "" ? heading : `${heading}\n${forDiscord(shortenMessage(text, mostForDiscord))}`
    return json({ content, allowed_mentions: { parse: [] } })
  },
  ntfy: (message, secret) => ({
    headers: {
      "content-type": "text/plain; charset=utf-8",
      title: forHeader(message.title),
      priority: isGood(message) ? "3" : "4",
      tags: isGood(message) ? "white_check_mark" : "warning",
      ...Option.match(secret, {
        onNone: () => ({}),
        onSome: (token) => ({ authorization: `Bearer ${forHeader(Redacted.value(token))}` })
      })
    },
    body: printable(message.text === "" ? message.title : message.text)
  })
}

/** Renders a message in the format of its target. Its text is never interpreted as markup. */
export const render = (
  format: NotifyFormat,
  message: NotifyMessage,
  secret: Option.Option<Redacted.Redacted>,
  seconds: number
): RenderedMessage => {
  const { body, headers } = renderers[format](message, secret, seconds)
  return { body, headers: { "user-agent": `Berth/${version}`, ...headers } }
}
