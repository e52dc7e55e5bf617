import { Path } from "@effect/platform"
import { Effect, Option, Stream } from "effect"
import { contextChunk } from "../../remote/build.ts"
import { type ContainerConfig, containerConfigName, ProjectFileInvalid } from "../../schema/projects.ts"
import { CurrentCaller } from "../../services/access/Caller.ts"
import { computeSha256 } from "../../services/bytes.ts"
import { type LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import type { BuildSection } from "../projects/composeBuilds.ts"
import { type DockerIgnore, parseDockerIgnore } from "../projects/dockerIgnore.ts"
import { isOutside, resolveLink } from "../projects/paths.ts"
import { failIfChanged } from "./images.ts"
import { blockSize, buildHeader, computePaddedSize, type HeaderFields, longestHeaderName } from "./tar.ts"

/** Member of a context: a file that is read when it is sent, or content in memory. */
interface ContextMember extends Omit<HeaderFields, "size"> {
  readonly content: { readonly path: string; readonly size: number } | Uint8Array
}

/** Build context as a tar, for the input of `docker build -`. */
interface ContextTar {
  /** Path of the Dockerfile in it. */
  readonly dockerfile: string
  readonly stream: Stream.Stream<Uint8Array, LocalFileFailed>
  /** Size in chunks of `contextChunk` bytes. */
  readonly chunks: number
  /** Bytes of its files. */
  readonly bytes: number
  /** Sockets, pipes and devices, which are left out. */
  readonly leftOut: ReadonlyArray<string>
}

const encoder = new TextEncoder()
const ignoreName = ".dockerignore"
const mostMembers = 100_000
const usualMode = { file: 0o644, link: 0o777 } as const

/** A field of an extended header, behind its length, which counts its own digits. */
const formatField = (key: string, value: string): string => {
  const rest = ` ${key}=${value}\n`
  const bytes = encoder.encode(rest).length
  const digits = String(bytes + String(bytes).length).length
  return `${bytes + digits}${rest}`
}

const contentSize = ({ content }: ContextMember) => content instanceof Uint8Array ? content.length : content.size

/** Header of a member, with an extended one before it for a name or a target that is too long. */
const buildHeaders = (member: ContextMember): Uint8Array => {
  const { mode, name, target, time, type } = member
  const isLong = (text: string) => encoder.encode(text).length > longestHeaderName
  const fields = [
    ...isLong(name) ? [formatField("path", name)] : [],
    ...isLong(target) ? [formatField("linkpath", target)] : []
  ].join("")
  const header = buildHeader({
    type,
    mode,
    time,
    size: contentSize(member),
    name: isLong(name) ? "long" : name,
    target: isLong(target) ? "long" : target
  })
  if (fields === "") return header
  const extended = encoder.encode(fields)
  const block = new Uint8Array(computePaddedSize(extended.length))
  block.set(extended)
  return Buffer.concat([
    buildHeader({ type: "x", mode: 0o644, time: 0, size: extended.length, name: "fields", target: "" }),
    block,
    header
  ])
}

/** A member as it is sent: its headers, its content, and what fills its last block. */
const streamMember = (files: typeof LocalFiles.Service, member: ContextMember, headers: Uint8Array) => {
  const { content } = member
  const size = contentSize(member)
  const bytes = content instanceof Uint8Array
    ? Stream.make(content)
    : failIfChanged(content.path, size)(files.lend(content.path, { offset: 0, bytes: size }))
  const filling = new Uint8Array(computePaddedSize(size) - size)
  return size === 0 ? Stream.make(headers) : Stream.concat(
    Stream.make(headers),
    filling.length === 0 ? bytes : Stream.concat(bytes, Stream.make(filling))
  )
}

const seconds = (millis: number) => Math.max(0, Math.floor(millis / 1_000))

/**
 * Lists the members of a context in the order of their names, without those that are ignored. A directory stays if
 * something in it does. Links are not followed.
 * @param needed files that Docker reads whether they are ignored or not
 */
const listMembers = (root: string, ignore: DockerIgnore, needed: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const files = yield* LocalFiles
    const path = yield* Path.Path
    const leftOut: Array<string> = []
    let count = 0
    const mayHold = (directory: string) =>
      ignore.mayTakeBack(directory) || needed.some((name) => name.startsWith(`${directory}/`))
    const listBelow = (
      above: string,
      parents: ReadonlyArray<boolean>
    ): Effect.Effect<ReadonlyArray<ContextMember>, LocalFileFailed | ProjectFileInvalid> =>
      Effect.gen(function*() {
        const found: Array<ContextMember> = []
        for (const { kind, mode, modified, name: own, size } of yield* files.list(path.join(root, above))) {
          const name = above === "" ? own : `${above}/${own}`
          const at = path.join(root, name)
          const { ignored, matches } = ignore.test(name, parents)
          const isKept = !ignored || needed.includes(name)
          if (isKept && ++count > mostMembers) {
            return yield* new ProjectFileInvalid({
              file: root,
              reason:
                `has more than ${
                  mostMembers.toLocaleString("en-US")
                } files and directories to send: list what the build ` +
                `does not need in ${ignoreName}`
            })
          }
          const about = { name, mode, target: "", content: new Uint8Array(), time: seconds(modified) }
          if (kind === "directory") {
            const below = isKept || mayHold(name) ? yield* listBelow(name, matches) : []
            if (isKept || below.length > 0) found.push({ ...about, name: `${name}/`, type: "5" })
            for (const member of below) found.push(member)
          } else if (isKept && kind === "file") found.push({ ...about, type: "0", content: { path: at, size } })
          else if (isKept && kind === "link") {
            found.push({ ...about, type: "2", mode: usualMode.link, target: yield* files.readLink(at) })
          } else if (isKept) leftOut.push(name)
        }
        return found
      })
    return { members: yield* listBelow("", []), leftOut }
  })

/**
 * Packs the context of a section as Docker's client does: without what `.dockerignore` names, with links as links, and
 * with a Dockerfile from elsewhere under a name of its own. Reads nothing outside of the project unless `container.json`
 * allows its links.
 */
export const packContext = Effect.fn("archive.packContext")(function*(
  directory: string,
  section: Pick<BuildSection, "directory" | "dockerfile" | "inline">,
  config: Pick<ContainerConfig, "allowLinks">
): Effect.fn.Return<ContextTar, LocalFileFailed | ProjectFileInvalid, LocalFiles | Path.Path> {
  const files = yield* LocalFiles
  const path = yield* Path.Path
  const project = yield* files.realPath(directory)
  const root = yield* files.realPath(section.directory)
  const isLocal = (yield* CurrentCaller).isLocal === true
  /** Resolves a file that the build reads; none if it does not exist. */
  const resolveFile = (file: string) =>
    Effect.gen(function*() {
      const entry = yield* files.find(file)
      if (Option.isNone(entry)) return Option.none()
      const isWithin = !isOutside(path, project, file)
      const real = isWithin
        ? yield* resolveLink(project, path.relative(project, file).split(path.sep).join("/"), config)
        : yield* files.realPath(file)
      if (!isWithin && isOutside(path, root, real) && !(config.allowLinks === true && isLocal)) {
        return yield* new ProjectFileInvalid({
          file,
          reason:
            `is outside of the project: move it there, or allow it with "allowLinks": true in ${containerConfigName}`
        })
      }
      return entry.value.kind === "file"
        ? Option.some(real)
        : yield* new ProjectFileInvalid({ file, reason: "is not a regular file" })
    })
  const usual = section.dockerfile ?? "Dockerfile"
  const named = section.inline === undefined
    ? yield* resolveFile(path.resolve(root, usual)).pipe(
      Effect.flatMap((found) =>
        Option.isNone(found) && section.dockerfile === undefined
          ? resolveFile(path.join(root, "dockerfile"))
          : Effect.succeed(found)
      ),
      Effect.flatMap(Option.match({
        onNone: () =>
          new ProjectFileInvalid({ file: path.resolve(root, usual), reason: "does not exist, and the build needs it" }),
        onSome: Effect.succeed
      }))
    )
    : undefined
  const isInside = named !== undefined && !isOutside(path, root, named)
  const ownIgnore = named === undefined ? Option.none() : yield* resolveFile(`${named}${ignoreName}`)
  const usualIgnore = yield* resolveFile(path.join(root, ignoreName))
  const readText = (file: Option.Option<string>) =>
    Option.match(file, {
      onNone: () => Effect.succeed(""),
      onSome: (real) => Effect.map(files.read(real), (bytes) => new TextDecoder().decode(bytes))
    })
  const ignore = parseDockerIgnore(yield* readText(Option.orElse(ownIgnore, () => usualIgnore)))
  if (typeof ignore === "string") {
    const file = Option.getOrElse(Option.orElse(ownIgnore, () => usualIgnore), () => path.join(root, ignoreName))
    return yield* new ProjectFileInvalid({ file, reason: `cannot be read by Docker: ${ignore}` })
  }
  const within = isInside ? path.relative(root, named).split(path.sep).join("/") : undefined
  const { leftOut, members } = yield* listMembers(root, ignore, [
    ...within === undefined ? [] : [within],
    // Docker itself removes it, and the Dockerfile, from what the build copies if they are ignored.
    ignoreName
  ])
  const text = section.inline !== undefined ? encoder.encode(section.inline) : isInside || named === undefined
    ? undefined
    : yield* files.read(named)
  const added = text === undefined ? undefined : `.dockerfile.${computeSha256(text).slice(0, 20)}`
  const inMemory = (name: string, content: Uint8Array): ContextMember => ({
    name,
    content,
    type: "0",
    mode: usualMode.file,
    time: 0,
    target: ""
  })
  const all = text === undefined || added === undefined ? members : [
    ...members.filter(({ name }) => name !== ignoreName),
    inMemory(added, text),
    inMemory(
      ignoreName,
      encoder.encode(`${Option.isNone(usualIgnore) ? ignoreName : yield* readText(usualIgnore)}\n${added}\n`)
    )
  ]
  const ready = all.map((member) => ({ member, headers: buildHeaders(member) }))
  const bytes = all.reduce((sum, member) => sum + contentSize(member), 0)
  const size = ready.reduce(
    (sum, { headers, member }) => sum + headers.length + computePaddedSize(contentSize(member)),
    0
  )
  const chunks = Math.ceil((size + 2 * blockSize) / contextChunk)
  return {
    dockerfile: added ?? within ?? usual,
    stream: Stream.concat(
      Stream.flatMap(Stream.fromIterable(ready), ({ headers, member }) => streamMember(files, member, headers)),
      Stream.make(new Uint8Array(chunks * contextChunk - size))
    ),
    chunks,
    bytes,
    leftOut
  }
})
