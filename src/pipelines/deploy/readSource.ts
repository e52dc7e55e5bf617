import { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import type { ReleaseSource } from "../../schema/releases.ts"
import { LocalFiles, privateFile } from "../../services/local/LocalFiles.ts"
import { LocalProcesses } from "../../services/local/LocalProcesses.ts"

const commitPattern = /^[0-9a-f]{40}$/
const longest = "30 seconds"

/** Reads the commit that `HEAD` names, in the files of the checkout. */
const readHead = (git: string) =>
  Effect.gen(function*() {
    const files = yield* LocalFiles
    const path = yield* Path.Path
    const readText = (name: string) =>
      Effect.map(
        Effect.option(files.read(path.join(git, name))),
        Option.map((bytes) => new TextDecoder().decode(bytes).trim())
      )
    const head = Option.getOrElse(yield* readText("HEAD"), () => "")
    if (commitPattern.test(head)) return Option.some(head)
    const [, branch] = /^ref: (refs\/[^\0\n]+)$/.exec(head) ?? []
    if (branch === undefined || branch.split("/").includes("..")) return Option.none()
    const loose = Option.filter(yield* readText(branch), (text) => commitPattern.test(text))
    if (Option.isSome(loose)) return loose
    const packed = Option.getOrElse(yield* readText("packed-refs"), () => "")
    return Option.fromNullable(
      packed.split("\n").find((line) => line.slice(41) === branch && commitPattern.test(line.slice(0, 40)))?.slice(
        0,
        40
      )
    )
  })

/**
 * Compares the files of a checkout with a commit. Git works in a directory of its own and reads only the index and the
 * objects of the project, whose configuration could make it run programs.
 */
const findDirty = (directory: string, git: string, commit: string) =>
  Effect.gen(function*() {
    const files = yield* LocalFiles
    const path = yield* Path.Path
    const processes = yield* LocalProcesses
    const own = yield* Effect.acquireRelease(
      files.temporaryDirectory("berth-git-"),
      (made) => Effect.ignore(files.remove(made))
    )
    yield* files.makeDirectory(path.join(own, "refs"), { mode: 0o700 })
    yield* files.write(path.join(own, "HEAD"), `${commit}\n`, privateFile)
    yield* files.write(path.join(own, "config"), "[core]\n\trepositoryformatversion = 0\n\tbare = false\n", privateFile)
    const { exitCode, output } = yield* processes.run({
      program: "git",
      args: ["status", "--porcelain", "--ignore-submodules=all"],
      cwd: directory,
      variables: {
        GIT_DIR: own,
        GIT_WORK_TREE: directory,
        GIT_INDEX_FILE: path.join(git, "index"),
        GIT_OBJECT_DIRECTORY: path.join(git, "objects"),
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_CONFIG_GLOBAL: "/dev/null",
        GIT_OPTIONAL_LOCKS: "0",
        GIT_TERMINAL_PROMPT: "0"
      },
      timeout: longest,
      maxOutput: 4_096
    })
    return exitCode === 0 ? Option.some(output.trim() !== "") : Option.none()
  }).pipe(Effect.scoped)

/** Reads the commit of a project that is a git checkout itself, and whether its files differ from it; none if unknown. */
export const readSource = Effect.fn("deploy.readSource")(function*(
  directory: string
): Effect.fn.Return<Option.Option<ReleaseSource>, never, LocalFiles | LocalProcesses | Path.Path> {
  const git = (yield* Path.Path).join(directory, ".git")
  return yield* Effect.gen(function*() {
    if (!Option.exists(yield* (yield* LocalFiles).find(git), ({ kind }) => kind === "directory")) return Option.none()
    const head = yield* readHead(git)
    if (Option.isNone(head)) return Option.none()
    const commit = head.value
    return Option.map(yield* findDirty(directory, git, commit), (dirty) => ({ commit, dirty }))
  }).pipe(Effect.orElseSucceed(() => Option.none()))
})
