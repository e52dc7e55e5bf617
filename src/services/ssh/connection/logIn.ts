import { Config, Effect, Option, Redacted } from "effect"
import type { AnyAuthMethod } from "ssh2"
import type { Credentials, ServerAccess } from "../../../schema/servers/Server.ts"
import { readRegular } from "../../local/openRegular.ts"
import { loadSsh2 } from "./loadSsh2.ts"

/** An authentication method: its display name and its credentials. */
interface Way {
  readonly name: string
  readonly method: AnyAuthMethod
}

/** The ways that the stored credentials offer, and why others of them cannot be used. */
export interface LoginMethods {
  readonly ways: ReadonlyArray<Way>
  readonly unused: ReadonlyArray<string>
}

/** The secret in the open, for what is about to send it or to compare it. */
export const reveal = (secret: Redacted.Redacted | undefined): string | undefined =>
  secret === undefined ? undefined : Redacted.value(secret)

/** Sends the password to the first prompt that hides its answer, and nothing to any other. */
const answering = (password: string): Extract<AnyAuthMethod, { readonly type: "keyboard-interactive" }>["prompt"] => {
  let answered = false
  return (_name, _instructions, _language, prompts, finish) =>
    finish(prompts.map((prompt) => {
      if (answered || prompt.echo === true) return ""
      answered = true
      return password
    }))
}

const withPassword = (username: string, password: string | undefined): ReadonlyArray<Way> =>
  password === undefined ? [] : [
    { name: "password", method: { type: "password", username, password } },
    {
      name: "keyboard-interactive",
      method: { type: "keyboard-interactive", username, prompt: answering(password) }
    }
  ]

const longestKey = 1024 * 1024

const withKey = (username: string, file: string, passphrase: string | undefined) =>
  Effect.gen(function*() {
    const text = new TextDecoder().decode(yield* readRegular(file, longestKey))
    const { utils } = yield* loadSsh2
    const key = utils.parseKey(text, passphrase)
    if (key instanceof Error) return yield* Effect.fail(key)
    const one = Array.isArray(key) ? key[0] : key
    if (!one.isPrivateKey()) return yield* Effect.fail(new Error("it holds no private key"))
    return { name: `the private key ${file}`, method: { type: "publickey", username, key: one } } satisfies Way
  }).pipe(
    Effect.mapError((cause) =>
      "code" in cause && cause.code === "ENOENT"
        ? `the key file ${file} does not exist`
        : "code" in cause && cause.code === "EACCES"
        ? `the key file ${file} cannot be read: permission denied`
        : `the private key ${file} cannot be used: ${cause.message.replace(/^(?=is )/, "it ")}`
    )
  )

const agentSocket = Config.option(Config.nonEmptyString("SSH_AUTH_SOCK")).pipe(
  Effect.orElseSucceed(() => Option.none<string>()),
  Effect.map(
    Option.orElse(() => process.platform === "win32" ? Option.some("\\\\.\\pipe\\openssh-ssh-agent") : Option.none())
  )
)

const withAgent = (username: string) =>
  Effect.flatMap(
    agentSocket,
    Option.match({
      onNone: () => Effect.fail("the agent cannot be used: SSH_AUTH_SOCK is not set where Berth runs"),
      onSome: (agent): Effect.Effect<Way> =>
        Effect.succeed({ name: `the keys of the agent at ${agent}`, method: { type: "agent", username, agent } })
    })
  )

/** Collects the ways to log in, those that reveal nothing to the server first. Reads the private key's file. */
export const collectLoginMethods = ({ credentials, username }: Pick<ServerAccess, "credentials" | "username">) =>
  Effect.gen(function*() {
    const { agent, passphrase, password, privateKey }: Credentials = credentials
    const [unused, ways] = yield* Effect.partition(
      [
        ...privateKey === undefined ? [] : [withKey(username, privateKey, reveal(passphrase))],
        ...agent === true ? [withAgent(username)] : []
      ],
      (way): Effect.Effect<Way, string> => way
    )
    return { ways: [...ways, ...withPassword(username, reveal(password))], unused } satisfies LoginMethods
  })

/**
 * Offers each way once, and only where the server takes it; keyboard-interactive only where it takes no password, as
 * that would be a second try with the same one. `tried` fills with the names of the ways that were shown.
 */
export const makeAuthSequence = ({ unused, ways }: LoginMethods, username: string) => {
  const left = [...ways]
  const tried: Array<string> = []
  const noted: Array<string> = []
  let started = false
  let accepted: ReadonlyArray<string> = []
  const next = (methods: ReadonlyArray<string> | null): AnyAuthMethod | false => {
    if (!started) {
      started = true
      return { type: "none", username }
    }
    accepted = methods ?? []
    const takes = (way: Way) => {
      const name = way.method.type === "agent" ? "publickey" : way.method.type
      return accepted.includes(name) &&
        !(name === "keyboard-interactive" && (tried.includes("password") || accepted.includes("password")))
    }
    const index = left.findIndex(takes)
    const [way] = index < 0 ? [] : left.splice(index, 1)
    if (way === undefined) return false
    tried.push(way.name)
    return way.method
  }
  const outcome = () => ({
    tried: [...tried],
    unused: [
      ...unused,
      ...noted,
      ...tried.length === 0 && ways.length > 0 && accepted.length > 0
        ? [`the server takes only ${accepted.join(", ")}, for which no usable credential is stored`]
        : []
    ]
  })
  /** Keeps why the way that is being tried could not be shown to the server, and goes on with the next. */
  const note = (reason: string): void => {
    noted.push(`${tried.pop() ?? "a way to log in"} cannot be used: ${reason}`)
  }
  return { next, note, outcome }
}
