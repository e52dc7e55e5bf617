import { Redacted } from "effect"
import type { ServerInput } from "../../schema/Server.ts"

/** How Berth logs in to a server. */
export type Way = "agent" | "key" | "password"

const textIn = (form: FormData, name: string): string => {
  const value = form.get(name)
  return typeof value === "string" ? value.trim() : ""
}

const credentials = (form: FormData, way: Way) => {
  const secret = (name: string) => Redacted.make(textIn(form, name))
  const passphrase = textIn(form, "passphrase") === "" ? {} : { passphrase: secret("passphrase") }
  switch (way) {
    case "agent":
      return { agent: true }
    case "key":
      return { privateKey: textIn(form, "privateKey"), ...passphrase }
    case "password":
      return { password: secret("password") }
  }
}

/** The server that a form describes. */
export const serverIn = (form: FormData, way: Way): ServerInput => ({
  name: textIn(form, "name"),
  host: textIn(form, "host"),
  port: Number(textIn(form, "port")),
  username: textIn(form, "username"),
  useSudo: form.get("useSudo") !== null,
  ...credentials(form, way)
})
