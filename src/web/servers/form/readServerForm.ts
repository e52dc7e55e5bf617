import { Redacted } from "effect"
import type { Server, ServerInput } from "../../../schema/servers/Server.ts"

/** SSH authentication method; `stored` keeps the credentials of a stored server. */
export type AuthMethod = "stored" | "agent" | "key" | "password"

const textIn = (form: FormData, name: string): string => {
  const value = form.get(name)
  return typeof value === "string" ? value.trim() : ""
}

/** Reads an authentication method; the agent by default. */
export const parseAuthMethod = (text: string): AuthMethod =>
  text === "key" || text === "password" || text === "stored" ? text : "agent"

const wayIn = (form: FormData) => parseAuthMethod(textIn(form, "way"))

const credentials = (form: FormData, way: Exclude<AuthMethod, "stored">) => {
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

/** Clears the stored credentials that the new log-in method does not use. */
const cleared = { agent: null, privateKey: null, passphrase: null, password: null } as const

/**
 * Builds a request from the form.
 * @param stored edited server; credentials of other log-in methods are cleared, and so are omitted jump hosts
 */
export const readServerInput = (form: FormData, stored: Server | undefined): ServerInput => {
  const way = wayIn(form)
  const jump = textIn(form, "jump")
  return {
    name: textIn(form, "name"),
    host: textIn(form, "host"),
    port: Number(textIn(form, "port")),
    username: textIn(form, "username"),
    ...(jump !== "" ? { jump } : stored === undefined ? {} : { jump: null }),
    useSudo: form.get("useSudo") !== null,
    ...(way === "stored" ? {} : { ...(stored === undefined ? {} : cleared), ...credentials(form, way) })
  }
}
