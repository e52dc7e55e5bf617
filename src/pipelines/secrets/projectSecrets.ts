import { Path } from "@effect/platform"
import { Effect, Either, Option, type Redacted } from "effect"
import { containerConfigName, ProjectFileInvalid } from "../../schema/projects.ts"
import {
  type CheckSecretsRequest,
  describeUndeclaredSecret,
  type ListedSecret,
  type ProjectSecrets,
  type RecipientsRequest,
  type SetSecretRequest,
  usualAgeFile
} from "../../schema/secrets.ts"
import { quoteInput } from "../../schema/words.ts"
import { Locks, makeProjectFileLock } from "../../services/locks/Locks.ts"
import { scrubSecrets, Settings } from "../../services/settings/Settings.ts"
import { readComposeFile } from "../projects/compose.ts"
import { readStackTexts } from "../projects/deployFiles.ts"
import { findComposeFile, readProjectConfig } from "../projects/files.ts"
import { requireTrust, resolveProjectDirectory } from "../projects/trust.ts"
import { changeRecipients, formatRecipientsFile, readRecipients, setAgeEntry } from "./ageFile.ts"
import { type DeclaredSecret, describeSource, listDeclaredSecrets } from "./declaredSecrets.ts"
import { findSecretMemory, type Resolution, trySecrets } from "./deploySecrets.ts"

/** Secrets that a project declares; without the services that use them if it has no compose file. */
const readDeclared = (directory: string, environment: string | null | undefined) =>
  Effect.gen(function*() {
    const config = yield* readProjectConfig(directory, environment)
    if (Option.isNone(yield* findComposeFile(directory, config))) return listDeclaredSecrets(config, "", [])
    const compose = yield* readComposeFile(directory, config)
    const texts = yield* readStackTexts(directory, { compose, files: [] })
    return listDeclaredSecrets(config, texts.compose, compose.services)
  })

const listAgeFiles = (secrets: ReadonlyArray<DeclaredSecret>): ReadonlyArray<string> => {
  const files = new Set(secrets.flatMap(({ from }) => from.kind === "age" ? [from.file] : []))
  return files.size === 0 ? [usualAgeFile] : [...files]
}

const answerWith = (
  directory: string,
  secrets: ReadonlyArray<DeclaredSecret>,
  resolutions: ReadonlyMap<string, Resolution> = new Map()
) =>
  Effect.gen(function*() {
    const recipients = yield* Effect.forEach(listAgeFiles(secrets), (file) => readRecipients(directory, file))
    const shown = yield* Effect.forEach(secrets, ({ as, from, name, services }) =>
      Effect.gen(function*() {
        const problem = Option.getOrUndefined(Option.flatMap(
          Option.fromNullable(resolutions.get(name)),
          Either.getLeft
        ))
        const secret: ListedSecret = { name, source: yield* scrubSecrets(describeSource(from)), as, services }
        return problem === undefined ? secret : { ...secret, problem: yield* scrubSecrets(problem) }
      }))
    return {
      projectPath: directory,
      secrets: shown,
      recipients: [...new Set(recipients.flat())]
    } satisfies ProjectSecrets
  })

/** Lists the secrets that a project declares. Runs no program and decrypts nothing. */
export const listSecrets = Effect.fn("secrets.list")(function*({ environment, projectPath }: CheckSecretsRequest) {
  const directory = yield* resolveProjectDirectory(projectPath)
  return yield* answerWith(directory, yield* readDeclared(directory, environment))
})

/** Resolves every secret of a project, also those that no service needs, and answers which have a problem. */
export const checkSecrets = Effect.fn("secrets.check")(function*({ environment, projectPath }: CheckSecretsRequest) {
  const directory = yield* resolveProjectDirectory(projectPath)
  yield* requireTrust(directory, "deploy", environment ?? null)
  const secrets = yield* readDeclared(directory, environment)
  return yield* answerWith(
    directory,
    secrets,
    yield* trySecrets(directory, secrets, yield* findSecretMemory(undefined))
  )
})

/** Age file of a declared secret; fails if it has another source. */
const findAgeFile = (directory: string, secrets: ReadonlyArray<DeclaredSecret>, name: string) =>
  Effect.gen(function*() {
    const file = (yield* Path.Path).join(directory, containerConfigName)
    const invalid = (reason: string) => new ProjectFileInvalid({ file, reason })
    const found = secrets.find((secret) => secret.name === name)
    if (found === undefined) {
      return yield* invalid(describeUndeclaredSecret(name, secrets.map((secret) => secret.name)))
    }
    return found.from.kind === "age" ? found.from.file : yield* invalid(
      `has the secret ${name} from the program ${
        quoteInput(found.from.command[0])
      }, and not from an age file: change it there`
    )
  })

/** Lets one process at a time change an age file. */
const withFileLock = <A, E, R>(directory: string, name: string, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const file = (yield* Path.Path).join(directory, name)
    return yield* (yield* Locks).withLock(makeProjectFileLock(file))(effect)
  })

const setEntry = (
  directory: string,
  environment: string | null | undefined,
  name: string,
  value: Redacted.Redacted
) =>
  Effect.gen(function*() {
    const secrets = yield* readDeclared(directory, environment)
    const file = yield* findAgeFile(directory, secrets, name)
    yield* withFileLock(directory, file, setAgeEntry(directory, file, name, value))
    return yield* answerWith(directory, secrets)
  })

/** Encrypts a value into the age file of a secret. */
export const setSecret = Effect.fn("secrets.set")(function*(
  { environment, name, projectPath, value }: SetSecretRequest
) {
  const directory = yield* resolveProjectDirectory(projectPath)
  yield* (yield* Settings).rememberSecrets([value])
  return yield* setEntry(directory, environment, name, value)
})

/** Changes the public keys that the age files of a project are encrypted for. */
export const changeProjectRecipients = Effect.fn("secrets.changeProjectRecipients")(function*(
  { add, environment, projectPath, remove }: RecipientsRequest
) {
  const directory = yield* resolveProjectDirectory(projectPath)
  const secrets = yield* readDeclared(directory, environment)
  // Files named alike share their recipients.
  const files = [...new Map(listAgeFiles(secrets).map((file) => [formatRecipientsFile(file), file])).values()]
  yield* Effect.forEach(
    files,
    (file) => withFileLock(directory, file, changeRecipients(directory, file, { add: add ?? [], remove: remove ?? [] }))
  )
  return yield* answerWith(directory, secrets)
})
