import { Array, Effect, Layer, Option, Order, Redacted, Ref, Stream } from "effect"
import { createHash } from "node:crypto"
import { posix } from "node:path"
import { type LocalEntry, LocalFileFailed, LocalFiles, type LocalKind } from "../services/local/LocalFiles.ts"
import {
  type LocalCommand,
  type LocalExit,
  LocalProcesses,
  ProgramFailed,
  ProgramNotFound
} from "../services/local/LocalProcesses.ts"

/** Entry at a path: the text or bytes of a file, or a link. Directories follow from their content. */
export type LocalFixture = string | Uint8Array | { readonly link: string } | { readonly directory: true }

interface Node {
  readonly kind: Extract<LocalKind, "file" | "directory" | "link">
  readonly content: Uint8Array
  readonly target: string
  readonly mode: number
  readonly modified: number
}

const bytesOf = (content: Uint8Array | string) =>
  typeof content === "string" ? new TextEncoder().encode(content) : content

const nothing = new Uint8Array()
const directoryNode = (modified: number): Node => ({
  kind: "directory",
  content: nothing,
  target: "",
  mode: 0o755,
  modified
})

const within = (path: string) => (other: string) => other.startsWith(path === "/" ? "/" : `${path}/`) && other !== path
const fail = (path: string, reason: string) => Effect.fail(new LocalFileFailed({ path, reason }))
const absent = (path: string) => fail(path, "no such file or directory")

/** Files in memory, by absolute path with `/`. Later files are newer, a second each. */
const make = (fixtures: Readonly<Record<string, LocalFixture>>) => {
  const nodes = new Map<string, Node>([["/", directoryNode(0)]])
  let clock = 0
  let directories = 0
  const now = () => (clock += 1000)

  const makeDirectory = (path: string): void => {
    if (nodes.has(path)) return
    makeDirectory(posix.dirname(path))
    nodes.set(path, directoryNode(now()))
  }
  const put = (path: string, content: Uint8Array, mode: number) =>
    nodes.set(path, { kind: "file", content, target: "", mode, modified: now() })

  for (const [path, fixture] of Object.entries(fixtures)) {
    makeDirectory(posix.dirname(path))
    if (typeof fixture === "string" || fixture instanceof Uint8Array) put(path, bytesOf(fixture), 0o644)
    else if ("link" in fixture) nodes.set(path, { ...directoryNode(now()), kind: "link", target: fixture.link })
    else makeDirectory(path)
  }

  /** The path with the links on the way followed, whether or not something is there. */
  const resolve = (path: string, links = 40): string => {
    if (path === "/" || path === ".") return path
    const named = posix.join(resolve(posix.dirname(path), links), posix.basename(path))
    const node = nodes.get(named)
    return node?.kind === "link" && links > 0
      ? resolve(posix.resolve(posix.dirname(named), node.target), links - 1)
      : named
  }
  const parent = (path: string) => posix.join(resolve(posix.dirname(path)), posix.basename(path))

  const entryOf = (path: string, { content, kind, mode, modified }: Node): LocalEntry => ({
    name: posix.basename(path),
    kind,
    size: kind === "file" ? content.length : 0,
    mode,
    modified
  })

  const at = <A>(path: string, use: (node: Node, real: string) => Effect.Effect<A, LocalFileFailed>) =>
    Effect.suspend(() => {
      const real = resolve(path)
      const node = nodes.get(real)
      return node === undefined ? absent(path) : use(node, real)
    })
  const read = (path: string) =>
    at(
      path,
      ({ content, kind }) => kind === "file" ? Effect.succeed(content) : fail(path, "is not a regular file")
    )
  const store = (path: string, target: string, content: Uint8Array, mode: number) =>
    Effect.suspend((): Effect.Effect<void, LocalFileFailed> => {
      if (nodes.get(posix.dirname(target))?.kind !== "directory") return absent(path)
      if (nodes.get(target)?.kind === "directory") return fail(path, "illegal operation on a directory")
      put(target, content, mode)
      return Effect.void
    })

  const list = (path: string) =>
    at(path, (node, real) =>
      node.kind === "directory"
        ? Effect.sync(() =>
          Array.sortWith(
            [...nodes].filter(([other]) => other !== "/" && posix.dirname(other) === real),
            ([other]) => other,
            Order.string
          ).map(([other, child]) => entryOf(other, child))
        )
        : fail(path, "not a directory"))

  return LocalFiles.of({
    find: (path) =>
      Effect.sync(() => Option.map(Option.fromNullable(nodes.get(resolve(path))), (node) => entryOf(path, node))),
    list,
    names: list,
    realPath: (path) => at(path, (_, real) => Effect.succeed(real)),
    readLink: (path) =>
      Effect.suspend(() => {
        const node = nodes.get(parent(path))
        return node?.kind === "link" ? Effect.succeed(node.target) : fail(path, "is not a link")
      }),
    read,
    stream: (path, { bytes, offset } = { offset: 0 }) =>
      Stream.fromEffect(
        Effect.map(read(path), (content) => content.slice(offset, bytes === undefined ? undefined : offset + bytes))
      ),
    lend: (path, { bytes, offset } = { offset: 0 }) =>
      Stream.unwrap(Effect.map(read(path), (content) => {
        const end = bytes === undefined ? content.length : offset + bytes
        const memory = new Uint8Array(1000)
        // Lent chunks are overwritten as soon as the next one is requested.
        return Stream.unfold(offset, (at) => {
          const chunk = content.subarray(at, Math.min(end, at + memory.length))
          memory.fill(0)
          memory.set(chunk)
          return chunk.length === 0 ? Option.none() : Option.some([memory.subarray(0, chunk.length), at + chunk.length])
        }).pipe(Stream.rechunk(1))
      })),
    sha256: (path) => Effect.map(read(path), (content) => createHash("sha256").update(content).digest("hex")),
    write: (path, content, options) =>
      Effect.suspend(() => {
        const target = resolve(path)
        if (options?.directoryMode !== undefined && posix.isAbsolute(target)) makeDirectory(posix.dirname(target))
        return store(path, target, bytesOf(content), options?.mode ?? nodes.get(target)?.mode ?? 0o644)
      }),
    create: (path, content, options) =>
      Effect.suspend(() => {
        const target = parent(path)
        return nodes.has(target)
          ? Effect.succeed(false)
          : Effect.as(store(path, target, bytesOf(content), options?.mode ?? 0o644), true)
      }),
    save: (path, content, options) =>
      Effect.gen(function*() {
        const bytes = Buffer.concat(Array.fromIterable(yield* Stream.runCollect(content)))
        yield* store(path, parent(path), bytes, options?.mode ?? 0o644)
        return bytes.length
      }),
    makeDirectory: (path) =>
      Effect.suspend(() => {
        const target = resolve(path)
        const inTheWay = nodes.get(target)
        if (inTheWay !== undefined && inTheWay.kind !== "directory") return fail(path, "file already exists")
        return Effect.sync(() => makeDirectory(target))
      }),
    temporaryDirectory: (prefix) =>
      Effect.sync(() => {
        const path = `/tmp/${prefix}${directories += 1}`
        makeDirectory(path)
        return path
      }),
    remove: (path) =>
      Effect.sync(() => {
        const target = parent(path)
        for (const other of nodes.keys()) if (other === target || within(target)(other)) nodes.delete(other)
      }),
    freeBytes: () => Effect.succeed(Number.POSITIVE_INFINITY)
  })
}

/** Files in memory: what is put in by path, and what the program under test writes. */
export const localFilesTest = (fixtures: Readonly<Record<string, LocalFixture>> = {}): Layer.Layer<LocalFiles> =>
  Layer.sync(LocalFiles, () => make(fixtures))

/** The text of a file, as the program under test left it. */
export const localText = (path: string): Effect.Effect<string, LocalFileFailed, LocalFiles> =>
  Effect.map(Effect.flatMap(LocalFiles, (files) => files.read(path)), (bytes) => new TextDecoder().decode(bytes))

/** Arguments of a started program. */
export type Started = Pick<LocalCommand, "program" | "args" | "cwd">

/** Behaviour of a test's program: its output, or an effect, which may take time or never end. */
export type Script = string | ((started: Started) => Effect.Effect<Partial<LocalExit>>)

const exitOf = (script: Script, started: Started) =>
  Effect.map(
    typeof script === "string" ? Effect.succeed({ output: script }) : script(started),
    (exit): LocalExit => ({ exitCode: 0, timedOut: false, output: "", ...exit })
  )

/** Scripted programs by name; others are not installed. `started` records every start in order. */
export const localProcessesTest = (
  scripts: Readonly<Record<string, Script>>,
  started?: Ref.Ref<ReadonlyArray<Started>>
): Layer.Layer<LocalProcesses> => {
  const start = ({ args, cwd, program }: Started) =>
    Effect.gen(function*() {
      const script = scripts[program]
      if (script === undefined) return yield* new ProgramNotFound({ program, help: "it is not installed" })
      const seen: Started = cwd === undefined ? { program, args } : { program, args, cwd }
      if (started !== undefined) yield* Ref.update(started, (all) => [...all, seen])
      return { script, seen }
    })
  return Layer.succeed(
    LocalProcesses,
    LocalProcesses.of({
      run: (command, onOutput) =>
        Effect.gen(function*() {
          const { script, seen } = yield* start(command)
          const ended = yield* Effect.timeoutOption(exitOf(script, seen), command.timeout)
          const exit = ended._tag === "None" ? { exitCode: null, timedOut: true, output: "" } : ended.value
          if (onOutput !== undefined && exit.output !== "") yield* onOutput(exit.output, 0)
          return exit
        }),
      read: (command) =>
        Effect.gen(function*() {
          const { script, seen } = yield* start(command)
          const ended = yield* Effect.timeoutOption(exitOf(script, seen), command.timeout)
          const exit = ended._tag === "None" ? { exitCode: null, timedOut: true, output: "" } : ended.value
          const { exitCode, output, timedOut } = exit
          const stdout = Redacted.make(new TextEncoder().encode(output))
          return { exitCode, timedOut, stdout, stderr: exitCode === 0 ? "" : output }
        }),
      stream: (command, input = Stream.empty) =>
        Stream.unwrap(Effect.gen(function*() {
          const { script, seen } = yield* start(command)
          yield* Stream.runDrain(input)
          const { exitCode, output } = yield* exitOf(script, seen)
          return exitCode === 0
            ? Stream.make(new TextEncoder().encode(output))
            : Stream.fail(new ProgramFailed({ program: command.program, exitCode, words: output }))
        })),
      launch: (command) => Effect.asVoid(start(command))
    })
  )
}
