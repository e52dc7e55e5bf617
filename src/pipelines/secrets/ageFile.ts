import { Path } from "@effect/platform"
import { armor, Decrypter, Encrypter } from "age-encryption"
import { Effect, Either, Option, Redacted } from "effect"
import { ProjectFileInvalid } from "../../schema/projects.ts"
import { quoteInput } from "../../schema/words.ts"
import { type LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { makeSshIdentity, makeSshRecipient } from "../../services/secrets/sshAgeKeys.ts"
import { Settings, type SettingsError } from "../../services/settings/Settings.ts"
import { normalizeRelativeName, readOwnFile, resolveLink, writeOwnFile } from "../projects/paths.ts"
import { formatEnvLines, readVariables } from "./declaredSecrets.ts"

/** Entries of an age file by name. */
export type AgeEntries = ReadonlyMap<string, Redacted.Redacted>

type AgeFailure = ProjectFileInvalid | LocalFileFailed | SettingsError

const begin = "-----BEGIN AGE ENCRYPTED FILE-----"
const isArmored = (bytes: Uint8Array) => new TextDecoder().decode(bytes.subarray(0, 200)).trimStart().startsWith(begin)

/** Directory and name of a file of the project; refuses names and links that lead out of it. */
const locate = (directory: string, file: string) =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    const name = yield* Either.mapLeft(
      normalizeRelativeName(file),
      (reason) => new ProjectFileInvalid({ file: directory, reason: `secrets: ${reason}` })
    )
    const parent = path.dirname(name)
    if (Option.isNone(yield* (yield* LocalFiles).find(path.join(directory, parent)))) {
      const reason = `lies in a directory that does not exist: create ${quoteInput(parent)} in the project first`
      return yield* new ProjectFileInvalid({ file: path.join(directory, name), reason })
    }
    return { place: yield* resolveLink(directory, parent, {}), name: path.basename(name) }
  })

/** Name of the file beside an age file that lists its recipients, as `age -R` takes it. */
export const formatRecipientsFile = (file: string): string => `${file.replace(/\.age$/, "")}.recipients`

const invalid = (directory: string, file: string, reason: string) =>
  Effect.flatMap(Path.Path, (path) => new ProjectFileInvalid({ file: path.join(directory, file), reason }))

type AgeIdentity = Parameters<Decrypter["addIdentity"]>[0]

const parseIdentities = (text: string): Either.Either<ReadonlyArray<AgeIdentity>, string> => {
  if (text.includes("PRIVATE KEY-----")) {
    const ssh = makeSshIdentity(text)
    return ssh === undefined
      ? Either.left(
        "secrets.identity is not an Ed25519 key, or has a passphrase: use one without, or a key of age-keygen"
      )
      : Either.right([ssh])
  }
  const keys = text.split("\n").map((line) => line.trim()).filter((line) => line.startsWith("AGE-SECRET-KEY-"))
  return keys.length === 0
    ? Either.left("secrets.identity has no key: it must have lines AGE-SECRET-KEY-1…, or be an OpenSSH private key")
    : Either.right(keys)
}

/** Identities of the setting `secrets.identity`: keys of age, one on a line, or an OpenSSH private key. */
const readIdentities = Effect.gen(function*() {
  const settings = yield* Settings
  return Either.flatMap(
    Either.fromOption(yield* settings.find("secrets.identity"), () => "the setting secrets.identity is missing"),
    (identity) => parseIdentities(Redacted.value(identity))
  )
})

const describeCause = (cause: unknown): string => cause instanceof Error ? cause.message : String(cause)

const decrypt = (bytes: Uint8Array, identities: ReadonlyArray<AgeIdentity>) =>
  Effect.tryPromise({
    try: async () => {
      const decrypter = new Decrypter()
      for (const identity of identities) decrypter.addIdentity(identity)
      return await decrypter.decrypt(isArmored(bytes) ? armor.decode(new TextDecoder().decode(bytes)) : bytes, "text")
    },
    catch: (cause) =>
      /no identity matched/i.test(describeCause(cause))
        ? "is not encrypted for secrets.identity: ask a recipient to add your public key"
        : `cannot be decrypted: ${describeCause(cause)}`
  })

/** Decrypts an age file, whose content is an env file; none if it does not exist. */
const findEntries = (directory: string, file: string): Effect.Effect<
  Option.Option<AgeEntries>,
  AgeFailure,
  LocalFiles | Path.Path | Settings
> =>
  Effect.gen(function*() {
    const { name, place } = yield* locate(directory, file)
    const bytes = yield* readOwnFile(place, name)
    if (Option.isNone(bytes)) return Option.none()
    const identities = yield* readIdentities
    if (Either.isLeft(identities)) {
      return yield* invalid(directory, file, `cannot be decrypted: ${identities.left}`)
    }
    const text = yield* Effect.catchAll(
      decrypt(bytes.value, identities.right),
      (reason) => invalid(directory, file, reason)
    )
    return Option.some(new Map([...readVariables(text)].map(([key, value]) => [key, Redacted.make(value)])))
  })

/** Entries of an age file. */
export const openAgeFile = Effect.fn("secrets.openAgeFile")(function*(
  directory: string,
  file: string
): Effect.fn.Return<AgeEntries, AgeFailure, LocalFiles | Path.Path | Settings> {
  const entries = yield* findEntries(directory, file)
  return Option.isSome(entries)
    ? entries.value
    : yield* invalid(directory, file, "does not exist: berth secrets set PROJECT NAME creates it")
})

const toRecipient = (line: string) => line.startsWith("age1") ? line : makeSshRecipient(line)

/** Reason why a line is not a public key that files can be encrypted for; undefined if it is one. */
export const findRecipientProblem = (line: string): string | undefined => {
  const recipient = toRecipient(line)
  if (recipient === undefined) {
    return `${quoteInput(line)} is not a public key of age (age1…) nor an Ed25519 key of SSH (ssh-ed25519 …)`
  }
  return Either.isRight(Either.try(() => new Encrypter().addRecipient(recipient)))
    ? undefined
    : `${quoteInput(line)} is not a valid public key of age`
}

const keysIn = (text: string): ReadonlyArray<string> =>
  text.split("\n").map((line) => line.trim()).filter((line) => line !== "" && !line.startsWith("#"))

const readText = (directory: string, file: string) =>
  Effect.gen(function*() {
    const { name, place } = yield* locate(directory, file)
    const bytes = yield* readOwnFile(place, name)
    return Option.match(bytes, { onNone: () => "", onSome: (content) => new TextDecoder().decode(content) })
  })

/** Public keys that an age file is encrypted for, from the file beside it; empty if there is none. */
export const readRecipients = (directory: string, file: string) =>
  Effect.map(readText(directory, formatRecipientsFile(file)), keysIn)

const write = (directory: string, file: string, content: string) =>
  Effect.flatMap(locate(directory, file), ({ name, place }) => writeOwnFile(place, name, content))

/** Encrypts entries for recipients, in armor, which diffs and mails well. */
const seal = (directory: string, file: string, entries: AgeEntries, recipients: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const values = new Map([...entries].map(([name, value]) => [name, Redacted.value(value)]))
    const text = yield* Effect.tryPromise({
      try: async () => {
        const encrypter = new Encrypter()
        for (const line of recipients) {
          const recipient = toRecipient(line)
          if (recipient === undefined) throw new Error(findRecipientProblem(line))
          encrypter.addRecipient(recipient)
        }
        return armor.encode(await encrypter.encrypt(`${formatEnvLines(values).join("\n")}\n`))
      },
      catch: (cause) => `cannot be encrypted: ${describeCause(cause)}`
    }).pipe(Effect.catchAll((reason) => invalid(directory, file, reason)))
    yield* write(directory, file, text)
  })

/** Sets an entry of an age file and encrypts it for its recipients; creates the file if there is none. */
export const setAgeEntry = Effect.fn("secrets.setAgeEntry")(function*(
  directory: string,
  file: string,
  name: string,
  value: Redacted.Redacted
): Effect.fn.Return<void, AgeFailure, LocalFiles | Path.Path | Settings> {
  const recipients = yield* readRecipients(directory, file)
  if (recipients.length === 0) {
    return yield* invalid(
      directory,
      formatRecipientsFile(file),
      "has no public key to encrypt for: berth secrets recipients add PROJECT age1…"
    )
  }
  const before = Option.getOrElse(yield* findEntries(directory, file), (): AgeEntries => new Map())
  yield* seal(directory, file, new Map(before).set(name, value), recipients)
})

/** Public keys to add to those of an age file, and to remove from them. */
export interface RecipientChange {
  readonly add: ReadonlyArray<string>
  readonly remove: ReadonlyArray<string>
}

/** Parts of a key that identify it, without its comment. */
const identify = (line: string): string => line.trim().split(/\s+/).slice(0, 2).join(" ")

/**
 * Changes the recipients of an age file, and encrypts it anew for them if it exists. A removed recipient keeps what it has
 * read: the secrets have to be changed as well.
 */
export const changeRecipients = Effect.fn("secrets.changeRecipients")(function*(
  directory: string,
  file: string,
  { add, remove }: RecipientChange
): Effect.fn.Return<ReadonlyArray<string>, AgeFailure, LocalFiles | Path.Path | Settings> {
  const list = formatRecipientsFile(file)
  const text = yield* readText(directory, list)
  const problem = add.map(findRecipientProblem).find((found) => found !== undefined)
  if (problem !== undefined) return yield* invalid(directory, list, `cannot have that recipient: ${problem}`)
  const known = new Set(keysIn(text).map(identify))
  const unknown = remove.find((line) => !known.has(identify(line)))
  if (unknown !== undefined) return yield* invalid(directory, list, `has no recipient ${quoteInput(unknown)}`)
  const removed = new Set(remove.map(identify))
  const kept = text.split("\n").filter((line) => line.trim().startsWith("#") || !removed.has(identify(line)))
  const added = add.map((line) => line.trim()).filter((line) => !known.has(identify(line)))
  const next = `${[kept.join("\n").trimEnd(), ...added].filter((lines) => lines !== "").join("\n")}\n`
  const recipients = keysIn(next)
  if (recipients.length === 0) {
    return yield* invalid(directory, list, "would have no recipient left, and the file could not be read again")
  }
  // Encrypts first: a file that cannot be decrypted here keeps its recipients.
  const entries = yield* findEntries(directory, file)
  if (Option.isSome(entries)) yield* seal(directory, file, entries.value, recipients)
  yield* write(directory, list, next)
  return recipients
})
