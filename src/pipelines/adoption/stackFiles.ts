import { Path } from "@effect/platform"
import { Array, Effect, Option, Stream } from "effect"
import {
  parseStackFile,
  parseStackTree,
  readPrivateCommand,
  type StackFile,
  stackFileCommand,
  stackTreeCommand
} from "../../remote/adoption.ts"
import type { PullRefused } from "../../schema/compare.ts"
import { composeFileNames, containerConfigName } from "../../schema/projects.ts"
import type { RemoteCommandFailed, RemoteFileFailed, SshError } from "../../schema/ssh.ts"
import { StackNotAdoptable } from "../../schema/stacks.ts"
import { formatBytes, formatList, quoteInput } from "../../schema/words.ts"
import { LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import type { ByteCount } from "../../services/runs/events.ts"
import { Sftp } from "../../services/ssh/Sftp.ts"
import { execute, Ssh } from "../../services/ssh/Ssh.ts"
import { normalizeRelativeName } from "../projects/paths.ts"
import { pullItem } from "../pull.ts"
import type { AdoptableStack } from "./serverStacks.ts"

// The files of a stack as those of a local project: a file is fetched when it is first looked for. So the reading of a
// project decides which files belong to it, with all that compose files include and extend.

const mebibyte = 1024 * 1024
/** Limits of what is fetched; what is larger is data of the server. */
const most = { file: 16 * mebibyte, privateFile: mebibyte, directory: 64 * mebibyte, files: 5_000 }

/** A name that was looked for, with what the server has. */
export interface SeenFile extends StackFile {
  /** Reason why it was not fetched; none for a directory that nobody has listed. */
  readonly left?: string
}

/** Files of a stack, in a local directory. */
export interface StackFiles {
  /** The files of this machine, with those of the stack below its local directory. */
  readonly files: LocalFiles["Type"]
  /** Everything that was looked for, by its name relative to the stack. */
  readonly seen: ReadonlyMap<string, SeenFile>
  /** Permissions on the server of every file that was fetched. */
  readonly modes: ReadonlyMap<string, number>
  /** Looks a file up on the server, and fetches nothing. */
  readonly look: (name: string) => Effect.Effect<Option.Option<StackFile>, RemoteCommandFailed | SshError>
}

type FetchFailure = LocalFileFailed | PullRefused | RemoteCommandFailed | RemoteFileFailed | SshError

const uncounted: ByteCount = {
  passing: (bytes) => bytes,
  expect: () => Effect.void,
  spare: () => Effect.void
}

const isFetched = (name: string) =>
  name !== containerConfigName && !/^(?:\.berth|data)(?:\/|$)/.test(name) && !/^[^/]*\.tar$/.test(name)

/**
 * Makes the files of a stack available below a local directory. What is removed there is not fetched again.
 * @param directory a real path, without links
 */
export const makeStackFiles = Effect.fn("makeStackFiles")(function*(
  { directory: remote, server }: AdoptableStack,
  directory: string
) {
  const path = yield* Path.Path
  const local = yield* LocalFiles
  const ssh = yield* Ssh
  const session = yield* (yield* Sftp).session(server)
  const seen = new Map<string, SeenFile>()
  const modes = new Map<string, number>()
  const listed = new Set<string>()
  const oneAtATime = yield* Effect.makeSemaphore(1)
  const at = (name: string) => path.join(directory, ...name.split("/"))

  const look = (name: string) =>
    execute(server, stackFileCommand(remote, name, server.useSudo)).pipe(
      Effect.provideService(Ssh, ssh),
      Effect.map(({ stdout }) => parseStackFile(stdout))
    )
  const pull = (name: string, type: "directory" | "file") =>
    pullItem(session, { name, remotePath: `${remote}/${name}`, localPath: at(name), type }, uncounted).pipe(
      Effect.provideService(LocalFiles, local),
      Effect.provideService(Path.Path, path)
    )
  const pullPrivate = (name: string) =>
    Effect.gen(function*() {
      const { stdout } = yield* Effect.provideService(
        execute(server, readPrivateCommand(remote, name, most.privateFile)),
        Ssh,
        ssh
      )
      yield* local.save(at(name), Stream.make(Buffer.from(stdout, "base64")), { mode: 0o600, directoryMode: 0o700 })
    })
  const fetchFile = (name: string, { isReadable, mode, size }: StackFile) =>
    Effect.gen(function*() {
      if (size > most.file) return `has ${formatBytes(size)}`
      if (isReadable) yield* pull(name, "file")
      else {
        if (!server.useSudo) return `cannot be read by ${server.username}`
        if (size > most.privateFile) return `has ${formatBytes(size)}, and only root may read it`
        yield* pullPrivate(name)
      }
      modes.set(name, mode)
      return undefined
    })

  /** Fetches a file, or makes a directory, unless that was done. */
  const fetch = (name: string): Effect.Effect<void, FetchFailure> =>
    Effect.gen(function*() {
      if (seen.has(name) || modes.has(name)) return
      const found = yield* look(name)
      if (Option.isNone(found)) return
      const { kind } = found.value
      if (kind === "directory") yield* local.makeDirectory(at(name))
      const left = kind === "file"
        ? yield* fetchFile(name, found.value)
        : kind === "directory"
        ? undefined
        : kind === "link"
        ? "is a link there, or behind one"
        : "is not a regular file there"
      seen.set(name, { ...found.value, ...left === undefined ? {} : { left } })
    })

  const fetchDirectory = (name: string): Effect.Effect<void, FetchFailure> =>
    Effect.gen(function*() {
      const found = seen.get(name)
      if (found?.kind !== "directory" || listed.has(name)) return
      listed.add(name)
      const command = stackTreeCommand(remote, name, most.files + 1)
      const { stdout } = yield* Effect.provideService(execute(server, command), Ssh, ssh)
      const { files, isReadable } = parseStackTree(stdout)
      const size = [...files.values()].reduce((sum, each) => sum + each.size, 0)
      const left = files.size > most.files
        ? `has more than ${most.files} files`
        : size > most.directory
        ? `has ${formatBytes(size)}`
        : isReadable
        ? undefined
        : `cannot be read by ${server.username} as a whole`
      if (left !== undefined) {
        seen.set(name, { ...found, left })
        return
      }
      yield* pull(name, "directory")
      for (const [file, { mode }] of files) modes.set(file, mode)
    })

  const nameOf = (file: string): string | undefined => {
    const below = path.relative(directory, file)
    if (below === "" || path.isAbsolute(below) || below.split(path.sep)[0] === "..") return undefined
    const name = below.split(path.sep).join("/")
    const clean = Option.getOrUndefined(Option.liftPredicate(name, isFetched))
    return clean !== undefined && normalizeRelativeName(clean)._tag === "Right" ? clean : undefined
  }
  const before = <A>(
    file: string,
    bring: (name: string) => Effect.Effect<void, FetchFailure>,
    then: Effect.Effect<A, LocalFileFailed>
  ) => {
    const name = nameOf(file)
    return name === undefined ? then : bring(name).pipe(
      Effect.mapError((error) =>
        error._tag === "LocalFileFailed" ? error : new LocalFileFailed({ path: name, reason: error.message })
      ),
      oneAtATime.withPermits(1),
      Effect.zipRight(then)
    )
  }
  const files = LocalFiles.of({
    ...local,
    find: (file) => before(file, fetch, local.find(file)),
    names: (file) => before(file, fetchDirectory, local.names(file)),
    list: (file) => before(file, fetchDirectory, local.list(file))
  })
  return { files, seen, modes, look } satisfies StackFiles
})

/** Refuses a stack that cannot become a project as it is. */
export const refuseStack = ({ remotePath, server }: Pick<AdoptableStack, "remotePath" | "server">, reason: string) =>
  new StackNotAdoptable({ remotePath, server: server.name, reason })

const overrideNames = composeFileNames.map((name) => name.replace(/\.(?=ya?ml$)/, ".override."))

/**
 * Names that a noted file may have in the stack's directory. Compose notes a relative path as it was given, from a working
 * directory that nobody knows.
 */
export const listNoted = (directory: string, noted: string): ReadonlyArray<string> => {
  if (noted.startsWith("/")) return noted.startsWith(`${directory}/`) ? [noted.slice(directory.length + 1)] : []
  const segments = noted.split("/").filter((segment) => segment !== "" && segment !== ".")
  const ways = segments.map((_, index) => segments.slice(0, index).join("/"))
  return ways.flatMap((way, index) =>
    way === "" || directory.endsWith(`/${way}`) ? [segments.slice(index).join("/")] : []
  )
}

/** Resolves the names of files that compose notes on the containers of a stack, in their order. */
const resolveNoted = (
  stack: AdoptableStack,
  { look }: Pick<StackFiles, "look">,
  what: string,
  notes: ReadonlyArray<ReadonlyArray<string>>
) =>
  Effect.gen(function*() {
    const resolve = (noted: string) =>
      Effect.gen(function*() {
        const names = listNoted(stack.directory, noted).filter((name) => normalizeRelativeName(name)._tag === "Right")
        if (names.length === 0) {
          return yield* refuseStack(
            stack,
            `it was started with the ${what} ${
              quoteInput(noted)
            }, which is not in its directory: put all of them there, and ` +
              "start it again with them"
          )
        }
        const found = yield* Effect.findFirst(names, (name) => Effect.map(look(name), Option.isSome))
        return Option.isSome(found) ? found.value : yield* refuseStack(
          stack,
          `it was started with the ${what} ${quoteInput(noted)}, which its directory does not have any more`
        )
      })
    const lists = yield* Effect.forEach(
      Array.dedupeWith(notes, (one, other) => one.join() === other.join()),
      (names) => Effect.forEach(names, resolve)
    )
    const [first = [], other] = Array.dedupeWith(lists, (one, other) => one.join() === other.join())
    if (other === undefined) return first
    return yield* refuseStack(
      stack,
      `some of its services were started with the ${what} ${formatList(first, "and")}, and others with ` +
        `${formatList(other, "and")}: start all of them with the same files`
    )
  })

/** Compose files that the stack was started from. */
export const findComposeNames = (stack: AdoptableStack, files: StackFiles) =>
  Effect.gen(function*() {
    const noted = yield* resolveNoted(stack, files, "compose file", stack.containers.map((each) => each.configFiles))
    if (noted.length > 0) return noted
    const isThere = (name: string) => Effect.map(files.look(name), Option.isSome)
    const usual = yield* Effect.findFirst(composeFileNames, isThere)
    const override = yield* Effect.findFirst(overrideNames, isThere)
    return Option.isSome(usual) ? [usual.value, ...Option.toArray(override)] : yield* refuseStack(
      stack,
      `its directory has no compose file: none of ${formatList(composeFileNames, "and")} is there`
    )
  })

/** Files of the variables; empty where compose reads `.env` by itself. */
export const findVariableNames = (stack: AdoptableStack, files: StackFiles) =>
  Effect.map(
    resolveNoted(stack, files, "env file", stack.containers.map((each) => each.variableFiles)),
    (names) => names.join() === ".env" ? [] : names
  )
