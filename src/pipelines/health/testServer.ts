import { Clock, Effect, Either, Option, Redacted } from "effect"
import { parseReadiness, readinessCommand, type Unready } from "../../remote/server.ts"
import {
  type ServerCheck,
  type ServerForbidden,
  type ServerInput,
  type ServerTest,
  type ServerTestRequest,
  type ServerUnresolved,
  usualSshPort
} from "../../schema/servers.ts"
import type { Credentials, JumpRefused, ServerAccess } from "../../schema/ssh.ts"
import { listServerSecrets, scrubText } from "../../services/masking.ts"
import { Settings, type SettingsError, type StoredAccess } from "../../services/settings/Settings.ts"
import { hasReference } from "../../services/settings/settingValue.ts"
import { FirstContact, type PresentedKey } from "../../services/ssh/FirstContact.ts"
import { Sftp } from "../../services/ssh/Sftp.ts"
import { execute } from "../../services/ssh/Ssh.ts"
import { resolveJumpHost } from "../servers/servers.ts"
import { checkDocker } from "./checks.ts"

type Secret = Redacted.Redacted | undefined

/** Credential to test with: the stored one if the request omits it, none if the request clears it. */
const secretOf = (given: Redacted.Redacted | null | undefined, stored: Secret): Secret =>
  given === undefined ? stored : given === null || Redacted.value(given) === "" ? undefined : given

const withValue = (credentials: { readonly [Name in keyof Credentials]: Credentials[Name] | undefined }): Credentials =>
  Object.fromEntries(Object.entries(credentials).filter(([, value]) => value !== undefined))

/** Stored credentials, only for the same user, address and route. */
const keptCredentials = (
  { host, jump, port, username }: Pick<ServerInput, "host" | "jump" | "port" | "username">,
  stored: Option.Option<StoredAccess>
): Effect.Effect<Credentials> =>
  Option.match(stored, {
    onNone: () => Effect.succeed({}),
    onSome: ({ jump: stands, server }) =>
      Effect.map(Effect.option(stands), (standing) => {
        const isSame = server.host === host && server.port === port && server.username === username &&
          (jump === undefined || Option.contains(standing, jump))
        return isSame ? server.credentials : {}
      })
  })

/** Host key that the settings require, for the same address and route. */
const requiredHostKey = (
  { host, jump, port }: Pick<ServerInput, "host" | "jump" | "port">,
  stored: Option.Option<StoredAccess>
): Effect.Effect<Pick<ServerAccess, "hostKey">> =>
  Effect.gen(function*() {
    if (Option.isNone(stored)) return {}
    const { jump: standing, server } = stored.value
    const isSame = server.host === host && server.port === port &&
      (jump === undefined || Option.contains(yield* Effect.option(standing), jump))
    return isSame && server.hostKey !== undefined ? { hostKey: server.hostKey } : {}
  })

/** Server to test. Stored credentials are only sent to the host, port and user that they are stored for. */
const accessOf = (input: ServerInput) =>
  Effect.gen(function*() {
    const { host, id, name, port = usualSshPort, privateKey, useSudo = false, username } = input
    const given = { id: id ?? "", name, host, port, username, useSudo }
    const settings = yield* Settings
    const stored = id === undefined || id === null
      ? Option.none()
      : Option.some(yield* settings.storedServer(id))
    const via = yield* resolveJumpHost(input.jump, stored)
    // Stored credentials, and jump hosts, may be used as they are.
    yield* settings.permitAccess(input, input.jump === undefined ? undefined : via)
    const kept = yield* keptCredentials({ host, port, username, jump: input.jump }, stored)
    const access: ServerAccess = {
      ...given,
      ...yield* requiredHostKey({ host, port, jump: input.jump }, stored),
      ...(via === undefined ? {} : { via }),
      credentials: withValue({
        password: secretOf(input.password, kept.password),
        sudoPassword: secretOf(input.sudoPassword, kept.sudoPassword),
        passphrase: secretOf(input.passphrase, kept.passphrase),
        privateKey: privateKey === undefined ? kept.privateKey : privateKey || undefined,
        keyText: privateKey === undefined ? kept.keyText : undefined,
        agent: input.agent === undefined ? kept.agent : input.agent ?? undefined
      })
    }
    return access
  })

/** Fields that refer to a value elsewhere, which is only read once the server is stored. */
const referring = ({ passphrase, password, privateKey, sudoPassword }: ServerInput): ReadonlyArray<string> => {
  const given = { password, sudoPassword, passphrase, privateKey }
  return Object.entries(given).flatMap(([name, value]) => {
    const open = Redacted.isRedacted(value) ? Redacted.value(value) : value
    return typeof open === "string" && hasReference(open) ? [name] : []
  })
}

const untried = (detail: string): ServerCheck => ({ ok: null, detail })
const noLogIn = untried("Not tried, as there is no log-in")
const noSudo = untried("The server is used without sudo")

const unconfirmed = "Not tried: nobody has confirmed the fingerprint of its host key, and no credential was sent"
const onlyStored = (names: ReadonlyArray<string>) =>
  `Not tried: ${names.join(" and ")} refers to something that is only read once the server is stored`

const hostKeyOf = (key: Option.Option<PresentedKey>) =>
  Option.match(key, {
    onNone: () => null,
    onSome: ({ remembered, rememberedIn, route, ...shown }) => ({
      ...shown,
      ...(Option.isSome(route) ? { route: route.value } : {}),
      remembered: Option.getOrNull(remembered),
      rememberedIn: Option.getOrNull(rememberedIn)
    })
  })

/** Checks sudo and Docker with one command. */
const checkPrograms = (access: ServerAccess) =>
  checkDocker(access).pipe(
    Effect.map((docker) => ({
      sudo: access.useSudo ? { ok: true, detail: "sudo runs Docker" } : noSudo,
      docker
    })),
    Effect.catchTag("SudoRefused", ({ help, words }) =>
      Effect.succeed({
        sudo: { ok: false, detail: words, fix: help },
        docker: untried("Not tried, as sudo does not work")
      })),
    Effect.catchAll(({ message }) =>
      Effect.succeed({ sudo: access.useSudo ? untried(message) : noSudo, docker: { ok: false, detail: message } })
    )
  )

/** Packages of the programs that are the likeliest to be missing. */
const packages: Readonly<Record<string, string>> = {
  cmp: "diffutils",
  find: "findutils",
  flock: "util-linux",
  sha256sum: "coreutils",
  xargs: "findutils"
}

const describeUnready = (unready: Unready, { username }: ServerAccess): ServerCheck => {
  switch (unready.kind) {
    case "missing": {
      const wanted = [...new Set(unready.programs.map((program) => packages[program] ?? program))]
      return {
        ok: false,
        detail: `Not there, or not on the PATH of commands: ${unready.programs.join(", ")}`,
        fix: `Install ${wanted.join(" and ")} on the server`
      }
    }
    case "unwritable":
      return {
        ok: false,
        detail: `${username} cannot write a file in ${unready.directory}: ${unready.reason}`,
        fix: `Let ${username} write there (chown), or free space if its disk is full`
      }
    case "untold":
      return { ok: false, detail: "The server did not answer to the end. Try it again" }
    case "unlocked":
      return {
        ok: false,
        detail: `A file in ${unready.directory} cannot be locked (flock)`,
        fix: "Keep that directory on a file system with locks, not on a network share without them"
      }
  }
}

const guard = "case $- in *i*) ;; *) return ;; esac"

/** Opens the file transfer, which start files that print something keep from beginning. */
const checkTransfer = (access: ServerAccess, greeting: string) =>
  Effect.gen(function*() {
    yield* (yield* (yield* Sftp).session(access)).stat("/")
    return Option.none<ServerCheck>()
  }).pipe(
    Effect.scoped,
    Effect.catchAll(({ message }) =>
      Effect.succeedSome(
        greeting === ""
          ? {
            ok: false,
            detail: `File transfer (SFTP) does not work: ${message}`,
            fix: "Set Subsystem sftp internal-sftp in sshd_config"
          }
          : {
            ok: false,
            detail:
              `The start files of the login shell print ${JSON.stringify(greeting)} before every answer, so that ` +
              `file transfer (SFTP) cannot begin: ${message}`,
            fix:
              `Print only for people: put "${guard}" before it in ~/.bashrc, or set Subsystem sftp internal-sftp in ` +
              "sshd_config"
          }
      )
    )
  )

/** Writes, locks and removes a file, and opens the file transfer. */
const checkFiles = (access: ServerAccess) =>
  Effect.gen(function*() {
    const exit = yield* execute(access, readinessCommand("~/containers"))
    const [unready] = parseReadiness(exit.stdout)
    if (unready !== undefined) return describeUnready(unready, access)
    const greeting = exit.greeting ?? ""
    const refused = yield* checkTransfer(access, greeting)
    return Option.getOrElse(refused, (): ServerCheck => ({
      ok: true,
      detail: greeting === ""
        ? "Files can be written, locked and transferred"
        : `Files can be written, locked and transferred. What the login shell prints before every answer is left out: ${
          JSON.stringify(greeting)
        }`
    }))
  }).pipe(Effect.catchAll(({ message }) => Effect.succeed<ServerCheck>({ ok: false, detail: message })))

const checkInside = (access: ServerAccess) =>
  Effect.gen(function*() {
    const programs = yield* checkPrograms(access)
    return { ...programs, files: yield* checkFiles(access) }
  })

/**
 * Tests the connection to a server that may not be stored yet: its host key, the login, sudo, Docker and files. Leaves
 * nothing there and does not store the host key. A server with a new key gets no credentials until its fingerprint is
 * confirmed.
 */
export const testServer = Effect.fn("testServer")(function*(
  { hostKey: confirmed, ...input }: ServerTestRequest
): Effect.fn.Return<
  ServerTest,
  JumpRefused | ServerForbidden | ServerUnresolved | SettingsError,
  FirstContact | Settings
> {
  const observedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
  const access = yield* accessOf(input)
  const references = referring(input)
  const contact = yield* FirstContact
  const { key, ...checks } = yield* Effect.scoped(Effect.gen(function*() {
    const shown = references.length === 0 ? access : { ...access, credentials: {} }
    const { key, session } = yield* contact.meet(shown, Option.fromNullable(confirmed))
    if (Either.isRight(session)) {
      const logIn: ServerCheck = { ok: true, detail: `${access.username} is logged in` }
      return { key, logIn, ...yield* Effect.provide(checkInside(access), session.right) }
    }
    const rest = { sudo: access.useSudo ? noLogIn : noSudo, docker: noLogIn, files: noLogIn }
    const { _tag: why } = session.left
    if (references.length > 0 && (why === "Unconfirmed" || why === "AuthenticationFailed")) {
      return { key, logIn: untried(onlyStored(references)), ...rest }
    }
    return session.left._tag === "Unconfirmed"
      ? { key, logIn: untried(unconfirmed), ...rest }
      : { key, logIn: { ok: false, detail: session.left.message }, ...rest }
  }))
  const clean = (check: ServerCheck): ServerCheck => ({
    ...check,
    detail: scrubText(check.detail, listServerSecrets(access))
  })
  const all = {
    logIn: clean(checks.logIn),
    sudo: clean(checks.sudo),
    docker: clean(checks.docker),
    files: clean(checks.files)
  }
  const isWell = ({ ok }: ServerCheck) => ok === true
  return {
    ready: isWell(all.logIn) && isWell(all.docker) && isWell(all.files) && (!access.useSudo || isWell(all.sudo)),
    hostKey: hostKeyOf(key),
    ...all,
    observedAt
  }
})
