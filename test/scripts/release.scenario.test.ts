import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { plant, temporaryDirectory } from "../layers/temporary.ts"

const script = fileURLToPath(new URL("../../scripts/release.mjs", import.meta.url))

const author = { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b" }

const repository = (unreleased: string, more: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function*() {
    const root = yield* temporaryDirectory
    const packed = "npm install ./berth-2.0.0.tgz\n"
    yield* plant(root, {
      "package.json": `${JSON.stringify({ name: "berth", version: "2.0.0" })}\n`,
      "package-lock.json": `${JSON.stringify({ name: "berth", version: "2.0.0", lockfileVersion: 3, packages: {} })}\n`,
      "CHANGELOG.md": `# Changelog\n\n## Unreleased\n\n${unreleased}## 2.0.0\n\n- The first.\n`,
      "src/schema/session.ts": "export const version = \"2.0.0\"\n",
      "README.md": packed,
      "docs/commands.md": packed,
      "docs/scripts.md": "npm install ./berth-pipelines-2.0.0.tgz\n",
      ...more
    })
    const run = (command: string, ...args: ReadonlyArray<string>) => {
      const { status, stderr, stdout } = spawnSync(command, args, {
        cwd: root,
        encoding: "utf8",
        env: { ...process.env, ...author }
      })
      return { status, out: stdout.trim(), err: stderr.trim() }
    }
    run("git", "init", "--quiet")
    run("git", "add", ".")
    run("git", "commit", "--quiet", "--message", "Begin")
    return {
      run,
      read: (name: string) => readFileSync(join(root, name), "utf8"),
      release: (version: string) => run(process.execPath, script, version, "--no-package"),
      releasePackage: (version: string) => run(process.execPath, script, version)
    }
  })

it.scoped("a release writes version and changelog, and is one commit with a tag", () =>
  Effect.gen(function*() {
    const { read, release, run } = yield* repository("- Faster.\n\n")
    expect(release("2.1.0")).toMatchObject({ status: 0 })
    expect(JSON.parse(read("package.json"))).toMatchObject({ version: "2.1.0" })
    expect(JSON.parse(read("package-lock.json"))).toMatchObject({ version: "2.1.0" })
    expect(read("src/schema/session.ts")).toContain("\"2.1.0\"")
    expect(read("README.md") + read("docs/commands.md") + read("docs/scripts.md")).not.toContain("2.0.0")
    expect(read("CHANGELOG.md")).toMatch(
      /^# Changelog\n\n## Unreleased\n\n## 2\.1\.0 \(\d{4}-\d\d-\d\d\)\n\n- Faster\.\n\n## 2\.0\.0\n/
    )
    expect(run("git", "status", "--porcelain").out).toBe("")
    expect(run("git", "log", "-1", "--format=%s").out).toBe("Release 2.1.0")
    expect(run("git", "describe").out).toBe("v2.1.0")
  }))

it.scoped("a release is refused, and changes nothing, where it would not be one", () =>
  Effect.gen(function*() {
    const empty = yield* repository("")
    expect(empty.release("2.1.0")).toMatchObject({ status: 1, err: "CHANGELOG.md has nothing under \"Unreleased\"" })
    const { release, run } = yield* repository("- Faster.\n\n")
    for (const version of ["", "2.1", "v2.1.0", "2.0.0", "1.9.9", "2.1.0;id"]) {
      expect(release(version)).toMatchObject({ status: 1, out: "" })
    }
    expect(run("git", "log", "--format=%s").out).toBe("Begin")
    run("sh", "-c", "echo >>README.md")
    expect(release("2.1.0").err).toMatch(/^Commit or stash/)
  }))

it.scoped.each(["README.md", "docs/commands.md", "docs/scripts.md", "src/schema/session.ts"])(
  "a release writes nothing where %s does not name the current version",
  (file) =>
    Effect.gen(function*() {
      const { release, run } = yield* repository("- Faster.\n\n", { [file]: "1.9.9\n" })
      expect(release("2.1.0")).toMatchObject({ status: 1, err: expect.stringContaining(`${file} does not contain`) })
      expect(run("git", "status", "--porcelain").out).toBe("")
      expect(run("git", "log", "--format=%s").out).toBe("Begin")
    })
)

it.scoped("a release is neither committed nor tagged where it cannot be built", () =>
  Effect.gen(function*() {
    const scripts = { prepack: "exit 1" }
    const { releasePackage, run } = yield* repository("- Faster.\n\n", {
      "package.json": `${JSON.stringify({ name: "berth", version: "2.0.0", scripts })}\n`
    })
    expect(releasePackage("2.1.0")).toMatchObject({ status: 1, err: expect.stringContaining("Nothing was released") })
    expect(run("git", "status", "--porcelain").out).toBe("")
    expect(run("git", "log", "--format=%s").out).toBe("Begin")
    expect(run("git", "tag").out).toBe("")
  }))
