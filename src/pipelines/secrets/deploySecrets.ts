import { Path } from "@effect/platform"
import { Array, Clock, Context, Duration, Effect, Either, Option, Redacted, Ref } from "effect"
import type { ServerFacts } from "../../remote/deploy.ts"
import { type ContainerConfig, containerConfigName, ProjectFileInvalid } from "../../schema/projects.ts"
import { isSecretFile, type PlannedSecret, secretsDirectory, SecretsUnresolved } from "../../schema/secrets.ts"
import { computeSha256 } from "../../services/bytes.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import { LocalProcesses, type LocalReading } from "../../services/local/LocalProcesses.ts"
import { formatUserAtMachine } from "../../services/local/user.ts"
import { scrubSecrets, Settings, type SettingsError } from "../../services/settings/Settings.ts"
import type { ComposeFile } from "../projects/compose.ts"
import { type DeployFile, readDeployText, readStackTexts } from "../projects/deployFiles.ts"
import { requireTrustedSecret } from "../projects/trust.ts"
import {
  type DeclaredSecret,
  describeSource,
  formatSecretFile,
  listDeclaredSecrets,
  mergeSecrets,
  readSecrets,
  readVariables,
  type SecretFrom,
  withoutSecrets
} from "./declaredSecrets.ts"

/** Value of a secret. */
export type SecretValue = Redacted.Redacted<Uint8Array>

/** Values of resolved secrets, by name. */
export type ResolvedSecrets = ReadonlyMap<string, SecretValue>

const mostBytes = 1024 * 1024
/** Commands at once, after the first one, which may have unlocked a password manager. */
const commandsAtOnce = 4
const shownLines = 3
const longestShown = 300

const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
const encoder = new TextEncoder()

const decodeText = (bytes: Uint8Array): Either.Either<string, string> =>
  Either.filterOrLeft(
    Either.try({ try: () => strictDecoder.decode(bytes), catch: () => "its value is not valid UTF-8" }),
    (text) => !text.includes("\0"),
    () => "its value contains a NUL character"
  )

/** Removes exactly one line break from the end of a text; other bytes stay as they are. */
const trimNewline = (bytes: Uint8Array): Uint8Array =>
  Either.match(decodeText(bytes), {
    onLeft: () => bytes,
    onRight: (text) => encoder.encode(text.replace(/\r?\n$/, ""))
  })

/** Text of a secret that becomes a variable; left is the reason why it has none. */
export const readSecretText = (value: SecretValue): Either.Either<string, string> => decodeText(Redacted.value(value))

const describeExit = ({ exitCode, timedOut }: LocalReading, limit: Duration.Duration): string =>
  timedOut
    ? `did not end within ${Duration.format(limit)} (secrets.timeout in the settings) and was stopped`
    : exitCode === null
    ? "was ended by a signal"
    : `ended with exit code ${exitCode}`

/** Runs the command of a secret in the project's directory; left is the reason why it has no value. */
const runCommand = (directory: string, name: string, command: readonly [string, ...ReadonlyArray<string>]) =>
  Effect.gen(function*() {
    // The project may have changed since the request was accepted.
    const trusted = yield* Effect.either(requireTrustedSecret(directory, name, command))
    if (Either.isLeft(trusted)) return Either.left(trusted.left.message)
    const [program, ...args] = command
    const timeout = yield* (yield* Settings).get("secrets.timeout")
    const processes = yield* LocalProcesses
    const reading = yield* Effect.either(
      processes.read({ program, args, cwd: directory, timeout, maxOutput: mostBytes, variables: {} })
    )
    if (Either.isLeft(reading)) return Either.left(`${reading.left.message}, on ${formatUserAtMachine()}`)
    const { exitCode, stderr, stdout, timedOut } = reading.right
    if (timedOut || exitCode !== 0) {
      const said = (yield* scrubSecrets(stderr.trim().split("\n").slice(-shownLines).join(" "))).slice(0, longestShown)
      const how = describeExit(reading.right, timeout)
      return Either.left(`${program} ${how}${said === "" ? "" : `: ${said}`}`)
    }
    if (stdout === null) return Either.left(`${program} printed more than 1 MiB`)
    const value = trimNewline(Redacted.value(stdout))
    return value.length === 0
      ? Either.left(`${program} ended well and printed nothing: an empty secret is not deployed`)
      : Either.right(Redacted.make(value))
  })

/** Reads a secret from an age file. The library is loaded on first use. */
const readAgeEntry = (directory: string, file: string, name: string) =>
  Effect.gen(function*() {
    const { openAgeFile } = yield* Effect.promise(() => import("./ageFile.ts"))
    const opened = yield* Effect.either(openAgeFile(directory, file))
    if (Either.isLeft(opened)) return Either.left(opened.left.message)
    const entry = opened.right.get(name)
    if (entry === undefined) return Either.left(`${file} has no entry of this name: berth secrets set PROJECT ${name}`)
    const value = Redacted.value(entry)
    return value === ""
      ? Either.left(`its entry in ${file} is empty`)
      : Either.right(Redacted.make(encoder.encode(value)))
  })

const keyOf = (directory: string, name: string, from: SecretFrom): string =>
  JSON.stringify(from.kind === "command" ? [directory, from.command] : [directory, from.file, name])

const read = (directory: string, { from, name }: DeclaredSecret) =>
  from.kind === "command" ? runCommand(directory, name, from.command) : readAgeEntry(directory, from.file, name)

/** Makes the values known to the scrubber before anything else happens with them. */
const remember = (resolutions: ReadonlyArray<Resolution>) =>
  Effect.flatMap(Settings, ({ rememberSecrets }) =>
    rememberSecrets(
      resolutions.flatMap((resolution) =>
        Either.match(Either.flatMap(resolution, readSecretText), {
          onLeft: () => [],
          onRight: (text) => [Redacted.make(text)]
        })
      )
    ))

/** Resolves secrets into the memory: what it has is not resolved again. */
const fillMemory = (directory: string, secrets: ReadonlyArray<DeclaredSecret>, memory: SecretMemory) =>
  Effect.gen(function*() {
    const known = yield* Ref.get(memory)
    const missing = [
      ...new Map(secrets.map((secret) => [keyOf(directory, secret.name, secret.from), secret]))
    ].filter(([key]) => !known.has(key))
    const resolveOne = ([key, secret]: typeof missing[number]) =>
      Effect.gen(function*() {
        const resolution: Resolution = yield* read(directory, secret)
        yield* remember([resolution])
        yield* Ref.update(memory, (all) => new Map(all).set(key, resolution))
      })
    yield* Effect.forEach(missing.slice(0, 1), resolveOne, { discard: true })
    yield* Effect.forEach(missing.slice(1), resolveOne, { concurrency: commandsAtOnce, discard: true })
    return yield* Ref.get(memory)
  })

/** Value of each secret, or the reason why it has none, by name. */
export const trySecrets = Effect.fn("secrets.try")(function*(
  directory: string,
  secrets: ReadonlyArray<DeclaredSecret>,
  memory: SecretMemory
): Effect.fn.Return<
  ReadonlyMap<string, Resolution>,
  SettingsError,
  LocalFiles | LocalProcesses | Path.Path | Settings
> {
  const all = yield* fillMemory(directory, secrets, memory)
  return new Map(secrets.map(({ as, from, name }) => {
    const found: Resolution = all.get(keyOf(directory, name, from)) ?? Either.left("it was not resolved")
    return [
      name,
      as === "file" ? found : Either.flatMap(found, (value) => Either.map(readSecretText(value), () => value))
    ]
  }))
})

/**
 * Resolves secrets with the programs and the identity of this machine: equal commands once, the first one alone since it
 * may ask to unlock a password manager. Reports every secret that has no value. The caller has made sure that the
 * programs may run.
 */
export const resolveSecrets = Effect.fn("secrets.resolve")(function*(
  directory: string,
  secrets: ReadonlyArray<DeclaredSecret>,
  memory: SecretMemory
): Effect.fn.Return<
  ResolvedSecrets,
  SecretsUnresolved | SettingsError,
  LocalFiles | LocalProcesses | Path.Path | Settings
> {
  const [reasons, values] = Array.partitionMap(
    [...yield* trySecrets(directory, secrets, memory)],
    ([name, found]) =>
      Either.mapBoth(found, {
        onLeft: (reason) => `${name}: ${reason}`,
        onRight: (value) => [name, value] as const
      })
  )
  if (Array.isNonEmptyReadonlyArray(reasons)) return yield* new SecretsUnresolved({ reasons })
  return new Map(values)
})

const envName = ".env"
const decoder = new TextDecoder()

const isVariable = ({ as }: DeclaredSecret) => as === "variable"

/**
 * Secrets of a project, and the files of its deploy with those that they need; their content follows when the secrets are
 * resolved.
 */
export const declareSecrets = Effect.fn("secrets.declare")(function*(
  directory: string,
  config: ContainerConfig,
  compose: ComposeFile,
  files: ReadonlyArray<DeployFile>
) {
  const path = yield* Path.Path
  const texts = yield* readStackTexts(directory, { compose, files: [] })
  const secrets = listDeclaredSecrets(config, texts.compose, compose.services)
  const own = files.find(({ name }) => name === secretsDirectory || isSecretFile(name))
  if (own !== undefined) {
    return yield* new ProjectFileInvalid({
      file: path.join(directory, containerConfigName),
      reason: `files has ${own.name}: ${secretsDirectory}/ is where the server gets secret files, so name it otherwise`
    })
  }
  const needed = secrets.filter(({ isNeeded }) => isNeeded)
  const fileOf = (name: string, mode: DeployFile["mode"]): DeployFile => ({
    name,
    path: path.join(directory, name),
    size: 0,
    mode
  })
  const { variableFiles } = compose
  if (variableFiles.length > 0 && !variableFiles.includes(envName) && needed.some(isVariable)) {
    return yield* new ProjectFileInvalid({
      file: path.join(directory, containerConfigName),
      reason: `envFiles leaves out ${envName}, where the server gets the secrets that are variables: add it there`
    })
  }
  const hasEnv = files.some(({ name }) => name === envName)
  const placed = [
    ...files,
    ...!hasEnv && needed.some(isVariable) ? [fileOf(envName, "600")] : [],
    // Compose ignores the owner and the mode of secret files, so users in containers need the right to read them. The
    // directory is closed to other users of the server.
    ...needed.filter((secret) => !isVariable(secret)).map(({ name }) => fileOf(formatSecretFile(name), "444"))
  ]
  return { secrets, files: placed }
})

interface Known {
  readonly secrets: ReadonlyArray<DeclaredSecret>
  readonly facts: ServerFacts
  /** Secrets in the `.env` of the server. */
  readonly there: ReadonlyMap<string, string>
  readonly resolved: ResolvedSecrets | undefined
}

/** Text of each variable: as resolved, or else as the server has it. */
const variablesOf = ({ resolved, secrets, there }: Known): ReadonlyMap<string, string> =>
  new Map(
    secrets.filter((secret) => secret.isNeeded && isVariable(secret)).flatMap(({ name }) => {
      const value = resolved?.get(name)
      const text = value === undefined ? there.get(name) : decoder.decode(Redacted.value(value))
      return text === undefined ? [] : [[name, text] as const]
    })
  )

const withContent = (file: DeployFile, bytes: Uint8Array): DeployFile => ({
  ...file,
  size: bytes.length,
  content: { bytes: Redacted.make(bytes), sha256: computeSha256(bytes) }
})

/** A secret file of unknown content, which counts as the one of the server. */
const unresolvedFile = (file: DeployFile, { fileHashes }: ServerFacts): DeployFile => ({
  ...file,
  content: { bytes: Redacted.make(new Uint8Array()), sha256: fileHashes.get(file.name) ?? "" }
})

const digestsOf = ({ facts, resolved, secrets }: Known, variables: ReadonlyMap<string, string>) =>
  new Map(
    secrets.filter(({ isNeeded }) => isNeeded).map((secret) => {
      const value = resolved?.get(secret.name)
      const digest = value !== undefined
        ? computeSha256(Redacted.value(value))
        : isVariable(secret)
        ? computeSha256(variables.get(secret.name) ?? "")
        : facts.fileHashes.get(formatSecretFile(secret.name)) ?? ""
      return [secret.name, digest] as const
    })
  )

const changeOf = ({ facts, resolved, there }: Known, { as, isNeeded, name }: DeclaredSecret) => {
  const before = as === "file"
    ? facts.fileHashes.get(formatSecretFile(name))
    : there.has(name)
    ? computeSha256(there.get(name) ?? "")
    : undefined
  if (!isNeeded) return before === undefined ? undefined : "gone"
  if (before === undefined) return "new"
  const value = resolved?.get(name)
  return value === undefined ? "unknown" : computeSha256(Redacted.value(value)) === before ? "same" : "changed"
}

/** Names of secrets that an earlier deploy brought and the project no longer declares. */
const listGone = ({ facts, secrets, there }: Known): ReadonlyArray<string> => {
  const declared = new Set(secrets.map(({ name }) => name))
  const files = facts.deployed.filter(isSecretFile).map((file) => file.slice(secretsDirectory.length + 1))
  return [...new Set([...there.keys(), ...files])].filter((name) => !declared.has(name)).toSorted()
}

const listWarnings = ({ secrets }: Known, env: string): ReadonlyArray<string> => {
  const own = readVariables(env)
  return secrets.flatMap(({ as, isNeeded, name, services }) =>
    !isNeeded
      ? [
        services.length === 0
          ? `the secret ${name} is used by no service of the compose file, and is not resolved`
          : `the secret ${name} is used only by services that are not started, and is not resolved`
      ]
      : as === "variable" && own.has(name)
      ? [`${name} is in .env and among the secrets: the secret is used`]
      : []
  )
}

/** Secrets of a deploy, compared with those on the server. */
export interface DecidedSecrets {
  /** Planned changes; only complete for a plan, which reads the `.env` of the server. */
  readonly changes: ReadonlyArray<PlannedSecret>
  /** Sha256 of each value by name, for the facts of the plan; empty where it is not known. */
  readonly digests: ReadonlyMap<string, string>
  readonly warnings: ReadonlyArray<string>
}

/** Files of a deploy, and the secrets that they need. */
interface PlanWithSecrets {
  readonly files: ReadonlyArray<DeployFile>
  readonly secrets?: ReadonlyArray<DeclaredSecret>
}

/**
 * Resolves the secrets of a project and puts them into the files that are uploaded, in memory alone. Compares them with
 * those of the server by digest.
 * @param memory remembers what is resolved; without it, no program is run and the secrets count as unchanged
 */
export const decideSecrets = Effect.fn("secrets.decide")(function*<Plan extends PlanWithSecrets>(
  directory: string,
  plan: Plan,
  facts: ServerFacts,
  memory: SecretMemory | undefined
) {
  const secrets = plan.secrets ?? []
  const there = readSecrets(facts.there.env)
  const needed = secrets.filter(({ isNeeded }) => isNeeded)
  const resolved = memory === undefined || needed.length === 0
    ? undefined
    : yield* resolveSecrets(directory, needed, memory)
  const known: Known = { secrets, facts, there, resolved }
  const variables = variablesOf(known)
  const env = yield* readDeployText(directory, envName, plan.files)
  // A project may have a copy of a deployed .env: its secrets are old ones.
  const merged = mergeSecrets(withoutSecrets(env), variables)
  const files = plan.files.map((file) => {
    if (file.name === envName) return merged === env ? file : withContent(file, encoder.encode(merged))
    if (!isSecretFile(file.name) || secrets.length === 0) return file
    const value = resolved?.get(file.name.slice(secretsDirectory.length + 1))
    return value === undefined ? unresolvedFile(file, facts) : withContent(file, Redacted.value(value))
  })
  const changes = secrets.flatMap((secret): ReadonlyArray<PlannedSecret> => {
    const change = changeOf(known, secret)
    return change === undefined
      ? []
      : [{ name: secret.name, source: describeSource(secret.from), change, services: secret.services }]
  })
  const gone = listGone(known).map((name): PlannedSecret => ({ name, source: "", change: "gone", services: [] }))
  const decided: DecidedSecrets = {
    changes: [...changes, ...gone],
    digests: digestsOf(known, variables),
    warnings: listWarnings(known, withoutSecrets(env))
  }
  return { plan: { ...plan, files }, secrets: decided }
})

/** Value of a secret, or the reason why it has none. */
export type Resolution = Either.Either<Redacted.Redacted<Uint8Array>, string>

/**
 * Remembers what was resolved, so that one plan or deploy runs equal commands once, also when it decides again or has
 * several servers.
 */
export type SecretMemory = Ref.Ref<ReadonlyMap<string, Resolution>>

const makeSecretMemory: Effect.Effect<SecretMemory> = Ref.make<ReadonlyMap<string, Resolution>>(new Map())

/** Memory of a deploy to several targets; its deploys and plans share it. */
class SharedSecrets extends Context.Reference<SharedSecrets>()("berth/SharedSecrets", {
  defaultValue: (): Option.Option<SecretMemory> => Option.none()
}) {}

/** Lets the plans and deploys of an effect share what they resolve. */
export const shareSecrets = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(
    makeSecretMemory,
    (memory) => Effect.provideService(effect, SharedSecrets, Option.some(memory))
  )

interface Planned {
  readonly at: number
  readonly memory: SecretMemory
}

/** Long enough to read a plan, short enough that values do not stay in memory. */
const keptFor = Duration.toMillis("15 minutes")

const mostPlans = 32

/** Secrets of the latest plans of this process, by plan hash. */
class PlannedSecrets extends Context.Reference<PlannedSecrets>()("berth/PlannedSecrets", {
  defaultValue: () => Ref.unsafeMake<ReadonlyMap<string, Planned>>(new Map())
}) {}

const recent = (all: ReadonlyMap<string, Planned>, now: number) => [...all].filter(([, { at }]) => now - at < keptFor)

/** Memory for a plan or a deploy: the one of its plan, if this process has just made it, or a new one. */
export const findSecretMemory = (planHash: string | undefined): Effect.Effect<SecretMemory> =>
  Effect.gen(function*() {
    const shared = yield* SharedSecrets
    if (Option.isSome(shared)) return shared.value
    const plans = new Map(recent(yield* Ref.get(yield* PlannedSecrets), yield* Clock.currentTimeMillis))
    return (planHash === undefined ? undefined : plans.get(planHash)?.memory) ?? (yield* makeSecretMemory)
  })

/** Keeps what a plan has resolved for the deploy that it binds, so that nobody is asked twice. */
export const keepForPlan = (planHash: string, memory: SecretMemory): Effect.Effect<void> =>
  Effect.gen(function*() {
    if ((yield* Ref.get(memory)).size === 0) return
    const at = yield* Clock.currentTimeMillis
    yield* Ref.update(yield* PlannedSecrets, (all) =>
      new Map([
        ...recent(all, at).filter(([hash]) => hash !== planHash),
        [planHash, { at, memory }] as const
      ].slice(-mostPlans)))
  })
