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

/** Methods that the stored credentials offer, and the reasons why others cannot be used. */
export interface LoginMethods {
  readonly ways: ReadonlyArray<Way>
  readonly unused: ReadonlyArray<string>
}

/** Reveals a secret in order to send or compare it. */
export const reveal = (secret: Redacted.Redacted | undefined): string | undefined =>
  secret === undefined ? undefined : Redacted.value(secret)

/** Sends the password to the first prompt with hidden input, and nothing to any other prompt. */
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

/**
 * Collects the authentication methods; those that reveal nothing to the server come first. Reads the private key file.
 */
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
 * Offers each method once, and only if the server accepts it. Keyboard-interactive is used only if the server does not
 * accept passwords, since it would retry the same one. `tried` collects the names of the offered methods.
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
  /** Notes why the current method could not be offered to the server; ssh2 continues with the next. */
  const note = (reason: string): void => {
    noted.push(`${tried.pop() ?? "a way to log in"} cannot be used: ${reason}`)
  }
  return { next, note, outcome }
}
