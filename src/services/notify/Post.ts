import { Context, type Effect, Option, Redacted, Schema } from "effect"
import { createHmac } from "node:crypto"
import type { NotifyFormat, NotifyMessage } from "../../schema/notify.ts"
import { version } from "../../schema/session.ts"

/** Truncates a text to a number of characters without splitting a character. */
export const shortenMessage = (text: string, most: number): string => {
  const cut = text.slice(0, most)
  return cut.length === text.length ? text : `${cut.replace(/[\ud800-\udbff]$/, "")}…`
}

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

/** A request failed, or its response was not a success. */
export class PostFailed extends Schema.TaggedError<PostFailed>()("PostFailed", {
  reason: Schema.String,
  /** Pause that the receiver requests, in milliseconds. */
  pause: Schema.optional(Schema.Number)
}) {
  override get message() {
    return this.reason
  }
}

/** Sends requests to the receivers of notifications. */
export class Post extends Context.Tag("berth/Post")<Post, {
  /**
   * Sends one request with a timeout of ten seconds, and returns the status of a success. Does not follow redirects,
   * and refuses names that resolve to a link-local address.
   */
  readonly send: (url: Redacted.Redacted, request: RenderedMessage) => Effect.Effect<number, PostFailed>
}>() {}
