import { Clock, Effect, Option, Record, Redacted, Ref } from "effect"
import { randomBytes } from "node:crypto"
import {
  findServer,
  isSameName,
  type Server,
  type ServerFields,
  type ServerForbidden,
  ServerTaken,
  usualSshPort
} from "../../schema/servers.ts"
import { type Role, SettingsInvalid, type SettingsUnavailable } from "../../schema/settings.ts"
import { TokenNotFound, TokenTaken } from "../../schema/tokens.ts"
import { parseSettingsDocument, type SettingsDocument } from "./document.ts"
import { editList, ListEdit } from "./listEdits.ts"
import {
  credentialFields,
  type makeServerReader,
  secretFields,
  type ServerField,
  type StoredServer
} from "./readLists.ts"
import type { makeTokenReader } from "./readTokens.ts"
import type { ServerListChange } from "./rights.ts"
import type { Edited, SettingsStore, Snapshot } from "./SettingsFile.ts"
import { isList } from "./settingValue.ts"
import type { Fields, FieldValue } from "./yamlSplices.ts"

/** Fields that a replacement sets, in the order in which they are written; `null` clears a field. */
type FieldChanges = Readonly<Record<string, FieldValue | null>>

/** Public fields of a server except its id. */
type PublicFields = Omit<Server, "id">

/** Public fields of an input. */
const pickPublicFields = (input: ServerFields): PublicFields => ({
  name: input.name,
  host: input.host,
  port: input.port ?? usualSshPort,
  username: input.username,
  ...(input.jump === null || input.jump === undefined ? {} : { jump: input.jump }),
  ...(input.hostKey === null || input.hostKey === undefined ? {} : { hostKey: input.hostKey }),
  useSudo: input.useSudo ?? false
})

/** A credential in the input; an empty one counts as `null`. */
const mentioned = (input: ServerFields, field: typeof credentialFields[number]): FieldValue | null | undefined => {
  const value = input[field]
  const open = Redacted.isRedacted(value) ? Redacted.value(value) : value
  return open === "" ? null : open
}

const withValue = (fields: Readonly<Record<string, FieldValue | null | undefined>>): Fields =>
  Record.filter(fields, (value) => value !== null && value !== undefined)

/** All fields to write for a new server. */
const buildNewServer = (id: string, input: ServerFields): Fields => {
  const { useSudo, ...shown } = pickPublicFields(input)
  const credentials = credentialFields.map((field) => [field, mentioned(input, field)] as const)
  return withValue({ id, ...shown, ...Object.fromEntries(credentials), useSudo })
}

const writtenText = ({ fields }: StoredServer, field: ServerField) => {
  const written = fields[field]?.written
  return written === undefined || isList(written) ? undefined : written.text
}

/** Resolvable public fields of a stored server; `jump` and `hostKey` are null if it has none. */
type ResolvedFields = {
  readonly [Field in keyof PublicFields]?:
    | PublicFields[Field]
    | (Field extends "hostKey" | "jump" ? null : never)
    | undefined
}

/** Compares the machine of an input with the stored one. Other jump hosts may lead to another with the same address. */
const compareMachine = (stored: StoredServer, known: ResolvedFields, input: ServerFields) => {
  const shown = pickPublicFields(input)
  const stays = (field: keyof PublicFields) =>
    known[field] === shown[field] || writtenText(stored, field) === String(shown[field])
  // Jump hosts missing from the input are kept.
  const jumpStays = input.jump === undefined || input.jump === known.jump ||
    (input.jump !== null && writtenText(stored, "jump") === input.jump)
  return { stays, jumpStays, isSame: stays("host") && stays("port") && jumpStays }
}

/** Host key required after a replacement: one missing from the input is kept for the same machine. */
const hostKeyAfter = (stored: StoredServer, known: ResolvedFields, input: ServerFields): string | null => {
  if (input.hostKey !== undefined) return input.hostKey
  return compareMachine(stored, known, input).isSame ? known.hostKey ?? writtenText(stored, "hostKey") ?? null : null
}

/** Public fields of a stored server after its replacement: jump hosts missing from the input are kept. */
const computePublicFields = (stored: StoredServer, known: ResolvedFields, input: ServerFields): PublicFields => {
  const kept = known.jump === undefined ? writtenText(stored, "jump") : known.jump
  return pickPublicFields({
    ...input,
    hostKey: hostKeyAfter(stored, known, input),
    ...(input.jump === undefined ? { jump: kept } : {})
  })
}

/**
 * Computes the changes that replace a stored server. `known` has its resolvable public fields: an unchanged value keeps
 * its reference. Credentials missing from the input are kept, unless they would be sent to another host, port, user or
 * through other jump hosts.
 */
const computeServerChanges = (
  stored: StoredServer,
  known: ResolvedFields,
  input: ServerFields
): FieldChanges => {
  const shown = pickPublicFields(input)
  const { isSame, jumpStays, stays } = compareMachine(stored, known, input)
  const moved = !(isSame && stays("username"))
  const changes: Record<string, FieldValue | null> = {}
  for (const field of ["name", "host", "port", "username"] as const) if (!stays(field)) changes[field] = shown[field]
  if (!jumpStays) changes["jump"] = shown.jump ?? null
  const hostKey = hostKeyAfter(stored, known, input)
  if (hostKey !== (known.hostKey ?? writtenText(stored, "hostKey") ?? null)) changes["hostKey"] = hostKey
  for (const field of credentialFields) {
    const given = mentioned(input, field)
    const value = given === undefined && moved ? null : given
    const old = writtenText(stored, field)
    if (value === null ? old !== undefined : value !== undefined && String(value) !== old) {
      changes[field] = value ?? null
    }
  }
  if (!stays("useSudo")) changes["useSudo"] = shown.useSudo
  return changes
}

/** Options for adding a server to the settings file. */
export interface SaveOptions {
  /** Id of a server that is added; a generated number unless given. */
  readonly newId: string | undefined
  /** Fails with `ServerTaken` when another server has the same name. */
  readonly uniqueName: boolean
}

interface Saved {
  readonly server: Server
  /** Its index in the list. */
  readonly index: number
}

/** A server as it would be stored, and the text of the file with all its secrets. */
interface ServerPlan extends Saved {
  readonly before: string
  readonly after: string
  /** Secret fields that the input sets. */
  readonly givenSecrets: ReadonlyArray<string>
}

/** Secret fields that an input sets. */
const givenSecrets = (input: ServerFields) =>
  secretFields.filter((field) => input[field] !== undefined && input[field] !== null)

/**
 * Writes servers to the settings file.
 * @param permit refuses an edit that the current caller may not make
 */
export const makeServerWriter = (
  { change, current, file }: SettingsStore,
  servers: ReturnType<typeof makeServerReader>,
  permit: (change: ServerListChange) => Effect.Effect<void, ServerForbidden>
) =>
  Effect.gen(function*() {
    const lastId = yield* Ref.make(0)

    /** Text after an edit of a server. An edit that would leave the file invalid, or is not permitted, fails. */
    const edited = ({ document, text }: Snapshot, id: string, edit: ListEdit, line: number | null) =>
      Effect.gen(function*() {
        const reason = "cannot be changed by Berth without risk to the rest of the file: change it by hand"
        const result = yield* Effect.mapError(
          editList(text, "servers", edit),
          () => new SettingsInvalid({ file, line, setting: "servers", reason })
        )
        const { servers: after } = yield* parseSettingsDocument(file, result)
        yield* permit({ before: (yield* document).servers, after, id })
        return Option.some(result)
      })

    /** Generates an id: the time in milliseconds, or the next free number. */
    const freshId = (isTaken: (id: string) => boolean) =>
      Effect.gen(function*() {
        let id = Math.max(yield* Clock.currentTimeMillis, (yield* Ref.get(lastId)) + 1)
        while (isTaken(String(id))) id += 1
        yield* Ref.set(lastId, id)
        return String(id)
      })

    /** Refuses an id or a name that could be mistaken for another stored server, if requested. */
    const refuseTaken = (
      stored: ReadonlyArray<StoredServer>,
      { id: ownId, name }: ServerFields,
      { newId, uniqueName }: SaveOptions
    ) =>
      Effect.gen(function*() {
        const all = yield* servers.named(stored)
        const others = all.filter(({ id }) => id !== ownId)
        const refuse = (what: "id" | "name", wanted: string) => {
          const by = others.find((other) => other.id === wanted || isSameName(other.name, wanted))
          return by === undefined ? Effect.void : new ServerTaken({ what, wanted, by: { id: by.id, name: by.name } })
        }
        if (newId !== undefined && others.length === all.length) yield* refuse("id", newId)
        if (uniqueName) yield* refuse("name", name)
      })

    const savedIn = (input: ServerFields, options: SaveOptions) => (snapshot: Snapshot) =>
      Effect.gen(function*() {
        const { servers: stored } = yield* snapshot.document
        yield* refuseTaken(stored, input, options)
        const old = yield* servers.withId(stored, input.id ?? "")
        if (Option.isNone(old)) {
          const ids = yield* servers.ids(stored)
          const id = options.newId ?? (yield* freshId((taken) => ids.includes(taken)))
          const edit = ListEdit.Add({ fields: buildNewServer(id, input) })
          const answer: Edited<Saved> = [
            { server: { id, ...pickPublicFields(input) }, index: stored.length },
            yield* edited(snapshot, id, edit, null)
          ]
          return answer
        }
        const { index, stored: replaced } = old.value
        const known = yield* servers.known(old.value)
        const fields = computeServerChanges(replaced, known, input)
        const edit = ListEdit.Change({ index, fields })
        const text = Object.keys(fields).length === 0
          ? Option.none()
          : yield* edited(snapshot, input.id ?? "", edit, replaced.line)
        const server = { id: input.id ?? "", ...computePublicFields(replaced, known, input) }
        const answer: Edited<Saved> = [{ server, index }, text]
        return answer
      })

    const save = (input: ServerFields, options: SaveOptions = { newId: undefined, uniqueName: false }) =>
      Effect.map(change(savedIn(input, options)), ({ server }) => server)

    const check = (input: ServerFields, options: SaveOptions) =>
      Effect.asVoid(Effect.flatMap(current, savedIn(input, options)))

    const plan = (input: ServerFields, options: SaveOptions) =>
      Effect.gen(function*() {
        const snapshot = yield* current
        const [saved, text] = yield* savedIn(input, options)(snapshot)
        const after = Option.getOrElse(text, () => snapshot.text)
        const planned: ServerPlan = { ...saved, before: snapshot.text, after, givenSecrets: givenSecrets(input) }
        return planned
      })

    const removeFrom = (idOrName: string) => (snapshot: Snapshot) =>
      Effect.gen(function*() {
        const { servers: stored } = yield* snapshot.document
        const withId = yield* servers.withId(stored, idOrName)
        const old = Option.isSome(withId) ? withId : yield* findServer(yield* servers.named(stored), idOrName).pipe(
          Effect.map(({ placed }) => Option.some(placed)),
          Effect.catchTag("ServerNotFound", () => Effect.succeedNone)
        )
        const text = Option.isNone(old) ? Option.none() : yield* edited(
          snapshot,
          yield* servers.idOf(old.value),
          ListEdit.Remove({ index: old.value.index }),
          old.value.stored.line
        )
        const answer: Edited<void> = [undefined, text]
        return answer
      })
    // Without a settings file there is nothing to lock.
    const remove = (idOrName: string) =>
      Effect.flatMap(
        Effect.flatMap(current, removeFrom(idOrName)),
        ([, text]) => Option.isNone(text) ? Effect.void : change(removeFrom(idOrName))
      )

    return { check, plan, save, remove }
  })

/** A stored token; the first one changes who is let in. */
export interface StoredNewToken {
  readonly token: Redacted.Redacted
  readonly isFirst: boolean
}

const countTokens = ({ settings, tokens }: SettingsDocument) =>
  tokens.length + (settings["http.token"] === undefined ? 0 : 1)

const makeToken = Effect.sync(() => Redacted.make(`berth_${randomBytes(32).toString("base64url")}`))

/** Writes tokens to the settings file. */
export const makeTokenWriter = ({ change, file }: SettingsStore, tokens: ReturnType<typeof makeTokenReader>) => {
  const edited = (text: string, edit: ListEdit, line: number | null) =>
    Effect.gen(function*() {
      const reason = "cannot be changed by Berth without risk to the rest of the file: change it by hand"
      const result = yield* Effect.mapError(
        editList(text, "tokens", edit),
        () => new SettingsInvalid({ file, line, setting: "http.tokens", reason })
      )
      yield* parseSettingsDocument(file, result)
      return Option.some(result)
    })

  const add = (
    name: string,
    role: Role
  ): Effect.Effect<StoredNewToken, TokenTaken | SettingsInvalid | SettingsUnavailable> =>
    change(({ document, text }: Snapshot) =>
      Effect.gen(function*() {
        const written = yield* document
        const stored = yield* tokens.listed(written.tokens)
        if (stored.some((each) => each.name === name)) return yield* new TokenTaken({ name })
        const token = yield* makeToken
        const edit = ListEdit.Add({ fields: { name, token: Redacted.value(token), role } })
        const answer: Edited<StoredNewToken> = [
          { token, isFirst: countTokens(written) === 0 },
          yield* edited(text, edit, null)
        ]
        return answer
      })
    )

  /** Removes the token with this name; true if it was the last one. */
  const remove = (name: string): Effect.Effect<boolean, TokenNotFound | SettingsInvalid | SettingsUnavailable> =>
    change(({ document, text }: Snapshot) =>
      Effect.gen(function*() {
        const written = yield* document
        const stored = yield* tokens.listed(written.tokens)
        const index = stored.findIndex((each) => each.name === name)
        if (index === -1) return yield* new TokenNotFound({ name, names: stored.map((each) => each.name) })
        const line = written.tokens[index]?.line ?? null
        const answer: Edited<boolean> = [
          countTokens(written) === 1,
          yield* edited(text, ListEdit.Remove({ index }), line)
        ]
        return answer
      })
    )

  return { add, remove }
}
