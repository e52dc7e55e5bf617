import { Path } from "@effect/platform"
import { Effect, Either, Option, Stream } from "effect"
import { type ContainerConfig, containerConfigName, PathOutside, ProjectFileInvalid } from "../../schema/projects.ts"
import { quoteInput } from "../../schema/words.ts"
import { CurrentCaller, mayChange, mayLeaveRoot } from "../../services/access/Caller.ts"
import { computeSha256 } from "../../services/bytes.ts"
import { capacity } from "../../services/limits.ts"
import { type LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { formatTrustedName, ProjectTrust } from "../../services/ProjectTrust.ts"
import { Settings, type SettingsError } from "../../services/settings/Settings.ts"

const mostDirectories = 2_000
const mostLinks = 200
const unsearched = [".git", "data", "node_modules"] as const

/** A link that leads out of its project, and the real path that it leads to. */
interface OutwardLink {
  /** Relative to the project, with `/`. */
  readonly name: string
  readonly target: string
}

/** True if a path is not in a directory. */
export const isOutside = (path: Path.Path, directory: string, file: string): boolean => {
  const below = path.relative(directory, file)
  return below === ".." || below.startsWith(`..${path.sep}`) || path.isAbsolute(below)
}

/** Finds the links in a project that lead out of it, within the bounds that `describeUnlisted` names. */
export const findOutwardLinks = Effect.fn("findOutwardLinks")(function*(
  directory: string
): Effect.fn.Return<ReadonlyArray<OutwardLink>, LocalFileFailed, LocalFiles | Path.Path> {
  const files = yield* LocalFiles
  const path = yield* Path.Path
  const root = yield* files.realPath(directory)
  const links: Array<OutwardLink> = []
  const left = [""]
  let count = 0
  for (let next = left.shift(); next !== undefined && links.length < mostLinks; next = left.shift()) {
    if (++count > mostDirectories) break
    // A directory that cannot be read is not deployed either.
    const entries = yield* Effect.orElseSucceed(files.names(path.join(directory, next)), () => [])
    for (const { kind, name } of entries) {
      const below = next === "" ? name : `${next}/${name}`
      if (kind === "directory" && !unsearched.some((each) => each === name)) left.push(below)
      if (kind !== "link" || links.length === mostLinks) continue
      const target = yield* Effect.option(files.realPath(path.join(directory, below)))
      if (Option.isSome(target) && isOutside(path, root, target.value)) {
        links.push({ name: below, target: target.value })
      }
    }
  }
  return links
})

/** Says why a link cannot be trusted as it is not found, and what to do. */
const describeUnlisted = (name: string): string => {
  const skipped = name.split("/").slice(0, -1).find((segment) => unsearched.some((each) => each === segment))
  return `. berth trust does not find it, as it ${
    skipped === undefined
      ? `looks into ${mostDirectories} directories and lists ${mostLinks} links at most`
      : `does not look into ${skipped}`
  }: copy what it leads to into the project`
}

/** Entry of the root that a path goes through: a project is a directory there, or the target of a link there. */
const directoryUnderRoot = (path: Path.Path, root: string, directory: string): Option.Option<string> => {
  const below = path.relative(root, directory)
  const [first = "", ...rest] = below.split(path.sep)
  return path.isAbsolute(below) || first === ".." || (first === "" && rest.length === 0)
    ? Option.none()
    : Option.some(path.join(root, first))
}

const longestPath = 4_096

/** Real path of a path; parts that are missing may be created later. */
export const resolveReal = (file: string): Effect.Effect<string, never, LocalFiles | Path.Path> =>
  Effect.gen(function*() {
    const { basename, dirname, join } = yield* Path.Path
    const real = yield* Effect.option((yield* LocalFiles).realPath(file))
    if (Option.isSome(real)) return real.value
    return dirname(file) === file ? file : join(yield* resolveReal(dirname(file)), basename(file))
  })

/**
 * True for a place that holds files of Berth, or one of them: with the settings, the trust or the history of runs a caller
 * could do everything. They may stand beside the projects, and be named so in any case of letters.
 */
const holdsOwnFiles = (real: string, realRoot: string) =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    const { directory, file } = yield* Settings
    const own = yield* resolveReal(path.resolve(directory))
    if (!isOutside(path, real, own)) return true
    if (isOutside(path, own, real)) return false
    if (isOutside(path, own, realRoot)) return true
    const [name = ""] = path.relative(own, real).toLowerCase().split(path.sep)
    return name.startsWith("berth.") || name === path.basename(file).toLowerCase()
  })

/**
 * Fails if the caller of the current request may not work at a local path. Callers with a token are limited to
 * `projects.root` after resolving links; the local user, and operators if the settings allow it, are not. Missing paths
 * outside the root get the same error, so that it reveals nothing about them.
 * Call this at the start of a request, because a recovered run has no caller.
 */
export const permitPath = Effect.fn("permitPath")(function*(
  localPath: string
): Effect.fn.Return<void, PathOutside | SettingsError, LocalFiles | Path.Path | Settings> {
  const caller = yield* CurrentCaller
  const path = yield* Path.Path
  // Relative paths, and text that is not a path, are rejected by all functions that take a directory.
  if (mayLeaveRoot(caller, false) || !path.isAbsolute(localPath) || localPath.includes("\0")) return
  const settings = yield* Settings
  if (mayLeaveRoot(caller, yield* settings.get("projects.anywhere"))) return
  const files = yield* LocalFiles
  const root = yield* settings.get("projects.root")
  const directory = path.resolve(localPath)
  const place = directoryUnderRoot(path, root, directory)
  const real = directory.length > longestPath ? undefined : yield* resolveReal(directory)
  const homes = yield* Effect.forEach(
    [root, ...Option.toArray(place)],
    (home) => Effect.option(files.realPath(home))
  )
  const isInside = real !== undefined && homes.some(Option.exists((home) => !isOutside(path, home, real)))
  const isOwn = isInside && (yield* holdsOwnFiles(real, yield* resolveReal(path.resolve(root))))
  if (isInside && !isOwn) return
  return yield* new PathOutside({
    path: localPath,
    root,
    caller: caller.name,
    isOperator: mayChange(caller.role),
    isOwn
  })
})

/** Remedy for a link that is allowed, and not trusted. */
const describeRemedy = (directory: string, link: string) =>
  Effect.map(
    Effect.orElseSucceed(findOutwardLinks(directory), () => []),
    (links) =>
      links.some(({ name }) => name === link)
        ? ". Copy what it leads to into the project, or have it trusted on this machine: berth trust PROJECT"
        : describeUnlisted(link)
  )

/**
 * Resolves a project's file name through its links. Rejects a link that leads out of the project unless
 * `container.json` allows it; otherwise a link in a project could upload or reveal any local file. For a caller with a
 * token, the user of this machine must trust the link too, as a cloned repository brings its own `container.json`.
 * @param name relative to the project, with `/`
 */
export const resolveLink = Effect.fn("resolveLink")(function*(
  directory: string,
  name: string,
  { allowLinks }: Pick<ContainerConfig, "allowLinks">
): Effect.fn.Return<string, ProjectFileInvalid | LocalFileFailed, LocalFiles | Path.Path> {
  const path = yield* Path.Path
  const files = yield* LocalFiles
  const root = yield* files.realPath(directory)
  const leadsOut = (real: string) => isOutside(path, root, real)
  const segments = name.split("/")
  const real = yield* files.realPath(path.join(directory, ...segments))
  const { isLocal } = yield* CurrentCaller
  if (!leadsOut(real) || (allowLinks === true && isLocal === true)) return real
  // Report the first link on the way that leads out, because that one has to be fixed.
  for (let count = 1; count <= segments.length; count++) {
    const link = path.join(directory, ...segments.slice(0, count))
    const target = yield* files.realPath(link)
    if (leadsOut(target)) {
      const trusted = allowLinks === true ? yield* (yield* ProjectTrust).find(root) : {}
      const isTrusted = trusted[formatTrustedName("link", segments.slice(0, count).join("/"))] === computeSha256(target)
      if (isTrusted) return real
      return yield* new ProjectFileInvalid({
        file: link,
        reason: `is a link that leads out of the project, to ${target}` +
          (allowLinks === true
            ? yield* describeRemedy(directory, segments.slice(0, count).join("/"))
            : ". Copy what it leads to into the project" +
              (name === containerConfigName ? "" : `, or allow it with "allowLinks": true in ${containerConfigName}`))
      })
    }
  }
  return real
})

const drive = /^[A-Za-z]:/
const controls = /[\0\r\n]/

/**
 * Normalizes a file name that is relative to a project or its deployed copy: `./a//b/` becomes `a/b`. Left is the
 * reason to reject a name that is absolute, leaves its root, or is another path on some operating system.
 */
export const normalizeRelativeName = (name: string): Either.Either<string, string> => {
  const refuse = (reason: string) => Either.left(`${quoteInput(name)} ${reason}`)
  if (controls.test(name)) return refuse("holds a control character")
  if (name.includes("\\")) return refuse("holds a backslash: separate directories with \"/\"")
  if (name.startsWith("/") || name.startsWith("~") || drive.test(name)) return refuse("is not relative to the project")
  const segments = name.split("/").filter((segment) => segment !== "" && segment !== ".")
  if (segments.includes("..")) return refuse("leaves the project")
  return segments.length === 0 ? refuse("names no file") : Either.right(segments.join("/"))
}

const newFileMode = 0o600

const invalid = (file: string, reason: string) => new ProjectFileInvalid({ file, reason })

/**
 * Refuses a link in the place of a file that Berth writes into a project, wherever it leads and whether or not its target
 * exists: a cloned repository must not have Berth read or replace a file elsewhere.
 * @param name name directly in the directory
 * @returns true if there is something else of this name
 */
export const refuseLink = Effect.fn("refuseLink")(function*(
  directory: string,
  name: string
): Effect.fn.Return<boolean, ProjectFileInvalid | LocalFileFailed, LocalFiles | Path.Path> {
  const entry = (yield* (yield* LocalFiles).names(directory)).find((each) => each.name === name)
  if (entry?.kind !== "link") return entry !== undefined
  return yield* invalid(
    (yield* Path.Path).join(directory, name),
    "is a link, and Berth writes it only in the project itself. Put a file in its place"
  )
})

/** Permissions of a file that Berth writes into a project; none if it does not exist. Refuses links and large files. */
const findOwnFile = (directory: string, name: string) =>
  Effect.gen(function*() {
    if (!(yield* refuseLink(directory, name))) return Option.none()
    const file = (yield* Path.Path).join(directory, name)
    const found = yield* (yield* LocalFiles).find(file)
    if (Option.isNone(found)) return Option.none()
    if (found.value.kind !== "file") return yield* invalid(file, "is not a regular file")
    if (found.value.size > capacity.ownFile) {
      return yield* invalid(file, `is larger than ${capacity.ownFile / 1024 / 1024} MiB`)
    }
    return Option.some(found.value.mode)
  })

/** Content of a file that Berth writes into a project; none if it does not exist. Refuses links and more than 16 MiB. */
export const readOwnFile = Effect.fn("readOwnFile")(function*(
  directory: string,
  name: string
): Effect.fn.Return<Option.Option<Uint8Array>, ProjectFileInvalid | LocalFileFailed, LocalFiles | Path.Path> {
  const found = yield* findOwnFile(directory, name)
  if (Option.isNone(found)) return Option.none()
  return Option.some(yield* (yield* LocalFiles).read((yield* Path.Path).join(directory, name)))
})

/**
 * Writes a file into a project: replaces it in one step and keeps its permissions; a new file is private. Refuses links,
 * and follows none that appears meanwhile.
 */
export const writeOwnFile = Effect.fn("writeOwnFile")(function*(
  directory: string,
  name: string,
  content: string
): Effect.fn.Return<void, ProjectFileInvalid | LocalFileFailed, LocalFiles | Path.Path> {
  const found = yield* findOwnFile(directory, name)
  const mode = Option.getOrElse(found, () => newFileMode)
  const file = (yield* Path.Path).join(directory, name)
  yield* (yield* LocalFiles).save(file, Stream.make(new TextEncoder().encode(content)), { mode })
})
