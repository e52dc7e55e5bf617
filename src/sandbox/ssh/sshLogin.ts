import { Redacted } from "effect"
import ssh2 from "ssh2"
import type { AuthContext } from "ssh2"

/** Authentication method of the server. */
export type LoginMethod = "password" | "keyboard-interactive" | "publickey"

export const defaultUsername = "sandbox"

export interface LoginOptions {
  readonly password: Redacted.Redacted
  /** `sandbox` when absent. */
  readonly username?: string
  /** `password` alone when absent. */
  readonly methods?: ReadonlyArray<LoginMethod>
  /** Authorized keys in OpenSSH's format, for the method `publickey`. */
  readonly authorizedKeys?: ReadonlyArray<string>
}

const isAuthorized = (context: AuthContext, keys: ReadonlyArray<string>): boolean => {
  if (context.method !== "publickey") return false
  return keys.some((line) => {
    const key = ssh2.utils.parseKey(line)
    if (key instanceof Error || !key.getPublicSSH().equals(context.key.data)) return false
    if (context.signature === undefined || context.blob === undefined) return true
    return key.verify(context.blob, context.signature, context.hashAlgo)
  })
}

/** Accepts or rejects a log-in. */
export const handleLogin = (context: AuthContext, options: LoginOptions): void => {
  const methods = [...options.methods ?? ["password"]]
  const username = options.username ?? defaultUsername
  const password = Redacted.value(options.password)
  const decide = (right: boolean) => right && context.username === username ? context.accept() : context.reject(methods)
  if (!methods.some((method) => method === context.method)) return decide(false)
  switch (context.method) {
    case "password":
      return decide(context.password === password)
    case "keyboard-interactive":
      return context.prompt({ prompt: "Password: ", echo: false }, (answers) => decide(answers?.[0] === password))
    case "publickey":
      return decide(isAuthorized(context, options.authorizedKeys ?? []))
    default:
      return decide(false)
  }
}
