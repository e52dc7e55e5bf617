import { Path } from "@effect/platform"
import { Effect, Either, Option } from "effect"
import { contentsCommand, inventoryCommand, parseContents, parseInventory, type RemoteFile } from "../remote/compare.ts"
import { parsePreflight, preflightCommand, type ServerFacts } from "../remote/deploy.ts"
import {
  type ComparedFile,
  type ComparedImage,
  type CompareRequest,
  type Comparison,
  type ComparisonStatus
} from "../schema/compare.ts"
import { withEnvironment } from "../schema/environments.ts"
import { composeFileNames, type ContainerConfig, containerConfigName, ProjectFileInvalid } from "../schema/projects.ts"
import type { RemoteCommandFailed, SshError } from "../schema/ssh.ts"
import type { Stack } from "../schema/stacks.ts"
import { computeSha256 } from "../services/bytes.ts"
import { type LocalEntry, type LocalFileFailed, LocalFiles } from "../services/local/LocalFiles.ts"
import { scrubSecrets, type Settings } from "../services/settings/Settings.ts"
import { execute, makeCommandFailed, scrubServerOutput, Ssh } from "../services/ssh/Ssh.ts"
import { findProjectArchive, type ImageArchive } from "./archive/images.ts"
import { chooseForPlatform } from "./archive/platforms.ts"
import { listArchiveNames, readArchive, resolveImageIds } from "./archive/transfer.ts"
import { readComposeFile } from "./projects/compose.ts"
import { findReferences } from "./projects/deployFiles.ts"
import { findComposeFile, isSecretName, readProjectConfig, readProjectText } from "./projects/files.ts"
import { normalizeRelativeName, resolveLink } from "./projects/paths.ts"
import { type PlaceRefused, resolveProjectPlace } from "./projects/places.ts"
import { mergeSecrets, readSecrets, withoutSecrets } from "./secrets/declaredSecrets.ts"
import { describeDockerRefusal } from "./servers/servers.ts"
import {
  dataName,
  decodeUtf8Text,
  isComposeName,
  isHashedOnly,
  listReadableTexts,
  showDifference,
  toWholeText
} from "./textDiffs.ts"

/** Images of an archive compared with those of a server, or a warning if that failed. */
interface ImageComparison {
  readonly images: ReadonlyArray<ComparedImage>
  readonly warnings: ReadonlyArray<string>
}

const none: ImageComparison = { images: [], warnings: [] }

/**
 * Compares images by the ids that they get on the server, as a deploy does, or by their layers if the id is not
 * predictable.
 */
const judged = ({ images }: ImageArchive, facts: ServerFacts): ReadonlyArray<ComparedImage> => {
  const ids = resolveImageIds(images, facts)
  const layers = new Map(facts.serverImages.map((image) => [image.id, image.layers.join()]))
  const chains = new Map(images.map((image) => [image.configId, image.layers.map(({ diffId }) => diffId).join()]))
  return listArchiveNames({ images }).map(({ id, name }) => {
    const expected = ids.get(id) ?? ""
    const there = id !== name ? facts.imageIds.get(name) : layers.has(expected) ? expected : undefined
    if (there === undefined) return { name, status: "local-only" as const }
    const isSame = expected === "" ? layers.get(there) === chains.get(id) : there === expected
    return { name, status: isSame ? "same" as const : "different" as const }
  })
}

/**
 * Compares the images of a project's archive with those that have their names on the server. Failures are reported as
 * warnings.
 */
const compareImages = Effect.fn("compare.images")(function*(
  { remotePath, server }: Stack,
  directory: string,
  { config, images }: Pick<Names, "config" | "images">
): Effect.fn.Return<ImageComparison, never, LocalFiles | Path.Path | Settings | Ssh> {
  const notCompared = (reason: string): ImageComparison => ({
    images: [],
    warnings: [`the images are not compared: ${reason}`]
  })
  return yield* Effect.gen(function*() {
    const file = yield* findProjectArchive(directory, config, server.id)
    if (Option.isNone(file)) return none
    const archive = yield* readArchive(file.value, images)
    if (Either.isLeft(archive)) return notCompared(`${file.value.name} is of a form that cannot be read`)
    const names = listArchiveNames(archive.right).map(({ name }) => name)
    const questions = { remotePath, images: names, files: [], layers: true, thorough: false }
    const command = preflightCommand(questions, server.useSudo)
    const answer = yield* (yield* Ssh).exec(server, command)
    if (answer.code !== 0) return notCompared(describeDockerRefusal(scrubServerOutput(server, answer.stderr), server))
    const facts = parsePreflight(answer.stdout)
    return { images: judged(chooseForPlatform(archive.right, facts.platform), facts), warnings: [] }
  }).pipe(Effect.catchAll(({ message }) => Effect.succeed(notCompared(message))))
})

/** A local file of a comparison. */
interface LocalFile {
  readonly path: string
  readonly size: number
  /** Content that a deploy would upload in place of the file\'s own. */
  readonly content?: Uint8Array
}

/** A name relative to the project, with its resolved path. */
interface NamedPath {
  readonly name: string
  readonly at: string
}

/** Local files, and those that could not be read. */
interface LocalInventory {
  readonly files: ReadonlyMap<string, LocalFile>
  /** Requested names that could not be inspected. */
  readonly unknown: ReadonlyArray<string>
  readonly warnings: ReadonlyArray<string>
}

/**
 * Lists the files of a project with these names, and all files below the directories among them. Skips links below a
 * directory, and warns about paths that lead out of the project unless `container.json` allows them.
 * @param names relative to the project, with `/`
 */
const readLocalInventory = Effect.fn("compare.localInventory")(function*(
  directory: string,
  names: ReadonlyArray<string>,
  config: Pick<ContainerConfig, "allowLinks">
): Effect.fn.Return<LocalInventory, never, LocalFiles | Path.Path> {
  const path = yield* Path.Path
  const local = yield* LocalFiles
  const files = new Map<string, LocalFile>()
  const unknown: Array<string> = []
  const warnings: Array<string> = []
  const orWarn = <A, R>(effect: Effect.Effect<A, LocalFileFailed | ProjectFileInvalid, R>, instead: A) =>
    Effect.catchAll(effect, ({ message }) => Effect.sync(() => (warnings.push(message), instead)))
  const note = (place: NamedPath, { kind, size }: LocalEntry): ReadonlyArray<NamedPath> => {
    if (kind === "file") files.set(place.name, { path: place.at, size })
    return kind === "directory" ? [place] : []
  }
  const lookUp = (name: string) =>
    Effect.gen(function*() {
      const found = yield* local.find(path.join(directory, ...name.split("/")))
      if (Option.isNone(found)) return []
      return note({ name, at: yield* resolveLink(directory, name, config) }, found.value)
    })

  const noteUnknown = (name: string) => Effect.sync(() => void unknown.push(name))
  const found = yield* Effect.forEach(
    names,
    (name) => orWarn(Effect.tapError(lookUp(name), () => noteUnknown(name)), []),
    { concurrency: 8 }
  )
  let level = found.flat()
  while (level.length > 0) {
    const below = yield* Effect.forEach(
      level,
      (parent) =>
        Effect.map(
          orWarn(local.list(parent.at), []),
          (entries) =>
            entries.flatMap((entry) =>
              note({ name: `${parent.name}/${entry.name}`, at: path.join(parent.at, entry.name) }, entry)
            )
        ),
      { concurrency: 8 }
    )
    level = below.flat()
  }
  return { files, unknown, warnings }
})

const mostWarnings = 20

const envName = ".env"

interface Names {
  /** Files and directories, relative to the project. */
  readonly all: ReadonlyArray<string>
  /** Tests for files that may contain values of variables, which are never shown. */
  readonly isSecret: (name: string) => boolean
  /** Tests for files of secrets, of which only hashes are compared. */
  readonly isPrivate: (name: string) => boolean
  readonly warnings: ReadonlyArray<string>
  readonly config: ContainerConfig
  /** Images that the services run. */
  readonly images: ReadonlyArray<string>
}

const noNames: {
  readonly images: ReadonlyArray<string>
  readonly envFiles: ReadonlyArray<string>
  readonly others: ReadonlyArray<string>
  readonly secretFiles: ReadonlyArray<string>
} = { images: [], envFiles: [], others: [], secretFiles: [] }

/** Names of the env files that Compose reads, and of the other files that the compose files name and a deploy brings. */
const readNames = (directory: string, config: ContainerConfig) =>
  Effect.gen(function*() {
    const compose = yield* readComposeFile(directory, config)
    const references = yield* findReferences(directory, compose, config)
    const isVariables = ({ kind }: { readonly kind: string }) => kind === "env_file" || kind === "variables"
    return {
      images: compose.services.flatMap(({ image }) => image === undefined ? [] : [image]),
      envFiles: [...compose.variableFiles, ...compose.named.filter(isVariables).map(({ name }) => name)],
      others: [
        ...compose.fileNames,
        ...compose.named.filter((each) => !isVariables(each)).map(({ name }) => name),
        ...references.filter(({ found }) => found === "brought").map(({ path }) => path)
      ],
      secretFiles: references.filter(({ kind }) => kind === "secret").map(({ path }) => path)
    }
  })

/** Names that a comparison covers: the compose file, env files, `data` and the entries of `container.json`. */
const namesOf = (directory: string, environment: string | undefined) =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    const config = yield* readProjectConfig(directory, environment)
    const configured = yield* Effect.forEach(config.files ?? [], (name) =>
      Either.mapLeft(
        normalizeRelativeName(name),
        (reason) => new ProjectFileInvalid({ file: path.join(directory, containerConfigName), reason })
      ))
    // A missing or broken compose file does not prevent the comparison, which then lacks the env files that it names.
    // Since a broken one may name any file, no other file is then shown as text.
    const compose = Option.isNone(yield* findComposeFile(directory, config))
      ? Either.right(noNames)
      : yield* readNames(directory, config).pipe(
        Effect.map(Either.right),
        Effect.catchTag("ProjectFileInvalid", (error) => Effect.succeed(Either.left(error.message)))
      )
    const { envFiles: written, images, others, secretFiles } = Either.getOrElse(compose, () => noNames)
    const envFiles = written
      .flatMap((name) => Option.toArray(Either.getRight(normalizeRelativeName(name))))
    const secrets = new Set(envFiles)
    const names: Names = {
      all: [...new Set([...composeFileNames, ".env", ...envFiles, ...others, ...configured, dataName])],
      isSecret: (name) => secrets.has(name) || isSecretName(name) || (Either.isLeft(compose) && !isComposeName(name)),
      isPrivate: (name) => secretFiles.some((path) => name === path || name.startsWith(`${path}/`)),
      warnings: Option.toArray(Either.getLeft(compose)),
      config,
      images
    }
    return names
  })

const lookAt = ({ remotePath, server }: Stack, names: Names, sudo: boolean) =>
  Effect.gen(function*() {
    const command = inventoryCommand(remotePath, names.all, sudo)
    const { stderr, stdout } = yield* execute(server, command, { timeout: "30 minutes" })
    const files = yield* Effect.mapError(parseInventory(stdout), () =>
      makeCommandFailed(server, command, 0, `"${server.name}" did not answer with a list of files`))
    return {
      files,
      sudo,
      warnings: stderr.split("\n").map((line) =>
        line.trim()
      ).filter((line) => line !== "")
    }
  })

/** Lists files as the server's user; repeats this with sudo only if that user cannot read everything. */
const remoteInventory = (stack: Stack, names: Names) =>
  Effect.gen(function*() {
    const plain = yield* lookAt(stack, names, false)
    if (plain.warnings.length === 0 || !stack.server.useSudo) return plain
    return yield* Effect.catchTag(lookAt(stack, names, true), "SudoRefused", ({ message }) =>
      Effect.succeed({ ...plain, warnings: [...plain.warnings, message] }))
  })

interface Pair {
  readonly name: string
  readonly local: LocalFile | undefined
  readonly remote: RemoteFile | undefined
}

const statusOf = ({ local, remote }: Pair) =>
  Effect.gen(function*() {
    const files = yield* LocalFiles
    if (remote === undefined) return "local-only"
    if (local === undefined) return "remote-only"
    if (local.size !== remote.size) return "different"
    const sha256 = local.content === undefined ? yield* files.sha256(local.path) : computeSha256(local.content)
    return sha256 === remote.sha256 ? "same" : "different"
  })

type Judged = Pair & { readonly status: ComparisonStatus }

/**
 * Local inventory with the `.env` that a deploy would upload: it adds the project's secrets, which count as unchanged here,
 * as only a plan resolves them.
 */
const addSecrets = (
  { remotePath, server }: Stack,
  directory: string,
  [here, there]: readonly [here: LocalInventory, there: Effect.Effect.Success<ReturnType<typeof lookAt>>]
) =>
  Effect.gen(function*() {
    const { stdout } = yield* execute(server, contentsCommand(remotePath, [envName], there.sudo))
    const secrets = readSecrets(parseContents(stdout).get(envName) ?? "")
    if (secrets.size === 0) return here
    const env = Option.getOrElse(yield* readProjectText(directory, envName), () => "")
    const content = new TextEncoder().encode(mergeSecrets(withoutSecrets(env), secrets))
    const path = (yield* Path.Path).join(directory, envName)
    return { ...here, files: new Map(here.files).set(envName, { path, size: content.length, content }) }
  })

/** Reads the remote texts of files that differ, within the limits for a diff. */
const remoteTexts = (
  { remotePath, server }: Stack,
  names: Names,
  files: ReadonlyArray<Judged>,
  sudo: boolean
) =>
  Effect.gen(function*() {
    const differing = files.flatMap(({ local, name, remote, status }) =>
      status !== "different" || local === undefined || remote === undefined || names.isPrivate(name) ||
        isHashedOnly(name, names.isSecret)
        ? []
        : [{ name, size: Math.max(local.size, remote.size) }]
    )
    const shown = listReadableTexts(differing)
    if (shown.length === 0) return new Map<string, string>()
    const command = contentsCommand(remotePath, shown, sudo)
    const { stdout } = yield* execute(server, command)
    return parseContents(stdout)
  })

const described = (names: Names, texts: ReadonlyMap<string, string>) => ({ local, name, remote, status }: Judged) =>
  Effect.gen(function*() {
    const files = yield* LocalFiles
    const plain: ComparedFile = { name, status, localSize: local?.size ?? null, remoteSize: remote?.size ?? null }
    const there = Option.flatMap(Option.fromNullable(texts.get(name)), (text) => toWholeText(text, remote?.size ?? -1))
    if (local === undefined || Option.isNone(there)) return plain
    const here = decodeUtf8Text(local.content ?? (yield* files.read(local.path)))
    yield* Effect.yieldNow()
    if (Option.isNone(here)) return plain
    const shown = yield* showDifference(name, there.value, here.value, names.isSecret(name))
    return { ...plain, ...shown }
  })

/**
 * Compares a project with its deployed copy by hashes: the compose file, env files, `data/`, the files of
 * `container.json`, and the images of its archive. Small texts that differ come with a diff. Env files only show names
 * of variables, and files below `data/` only that they differ.
 */
export const compare = Effect.fn("compare")(function*(
  request: CompareRequest
): Effect.fn.Return<
  Comparison,
  PlaceRefused | RemoteCommandFailed | SshError,
  Settings | Ssh | LocalFiles | Path.Path
> {
  const stack = yield* resolveProjectPlace(request)
  const { directory, environment } = stack
  const names = yield* namesOf(directory, environment)
  const [local, there, { images, warnings: notCompared }] = yield* Effect.all([
    readLocalInventory(directory, names.all, names.config),
    remoteInventory(stack, names),
    compareImages(stack, directory, names)
  ], { concurrency: 3 })

  const here = Object.keys(names.config.secrets ?? {}).length > 0 && there.files.has(envName)
    ? yield* addSecrets(stack, directory, [local, there])
    : local
  const warnings = [...new Set([...names.warnings, ...here.warnings, ...there.warnings, ...notCompared])]
  const pairs = [...new Set([...here.files.keys(), ...there.files.keys()])].sort().flatMap((name): Array<Pair> => {
    const remote = there.files.get(name)
    // A file that is unreadable on either side does not count as different; a warning names it.
    const isUnknown = here.unknown.some((place) => name === place || name.startsWith(`${place}/`))
    return isUnknown || (remote !== undefined && remote.sha256 === undefined)
      ? []
      : [{ name, local: here.files.get(name), remote }]
  })
  const judged = yield* Effect.forEach(pairs, (pair) =>
    statusOf(pair).pipe(
      Effect.map((status): Option.Option<Judged> => Option.some({ ...pair, status })),
      Effect.catchAll(({ message }) => Effect.sync(() => (warnings.push(message), Option.none<Judged>())))
    ), { concurrency: 4 })
  const files = judged.flatMap(Option.toArray)
  const texts = yield* remoteTexts(stack, names, files, there.sudo)
  const count = (status: ComparisonStatus) => files.filter((file) => file.status === status).length
  return {
    projectPath: directory,
    serverId: stack.server.id,
    remotePath: stack.remotePath,
    ...withEnvironment(stack),
    files: yield* Effect.forEach(files, described(names, texts)),
    images,
    summary: {
      "same": count("same"),
      "different": count("different"),
      "local-only": count("local-only"),
      "remote-only": count("remote-only")
    },
    warnings: yield* Effect.forEach(warnings.slice(0, mostWarnings), (warning) => scrubSecrets(warning))
  }
})
