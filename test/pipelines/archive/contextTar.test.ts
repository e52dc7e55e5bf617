import { Path } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { packContext } from "../../../src/pipelines/archive/contextTar.ts"
import { makePlainSource, readTar } from "../../../src/pipelines/archive/tar.ts"
import { contextChunk } from "../../../src/remote/build.ts"
import { LocalFiles } from "../../../src/services/local/LocalFiles.ts"
import { localFilesTest, type LocalFixture } from "../../../src/testing/LocalFilesTest.ts"

const directory = "/srv/shop"
const section = { directory: `${directory}/web`, dockerfile: undefined, inline: undefined }
const world = (files: Readonly<Record<string, LocalFixture>>) =>
  Layer.merge(
    localFilesTest(Object.fromEntries(
      Object.entries(files).map(([name, file]) => [name.startsWith("/") ? name : `${directory}/${name}`, file])
    )),
    Path.layer
  )

/** A context with so many empty directories. */
const crowded = (count: number) => {
  const all = Array.from({ length: count }, (_, at) => ({
    name: `${at}`,
    kind: "directory" as const,
    size: 0,
    modified: 0,
    mode: 0o755
  }))
  const list = (path: string) => Effect.succeed(path === section.directory ? all : [])
  const files = world({ "web/Dockerfile": "FROM scratch\n" })
  return Layer.merge(
    Layer.provide(
      Layer.effect(LocalFiles, Effect.map(LocalFiles, (files) => LocalFiles.of({ ...files, list }))),
      files
    ),
    Path.layer
  )
}

const textAt = (bytes: Uint8Array, end: number, size: number) => {
  const start = end - Math.ceil(size / 512) * 512
  return new TextDecoder().decode(bytes.subarray(start, start + size))
}

/** Packs a context, and reads it back. */
const pack = (wanted: Parameters<typeof packContext>[1] = section, config: Parameters<typeof packContext>[2] = {}) =>
  Effect.gen(function*() {
    const context = yield* packContext(directory, wanted, config)
    const bytes = yield* Stream.runFold(
      context.stream,
      Buffer.alloc(0),
      (whole, chunk) => Buffer.concat([whole, chunk])
    )
    expect(bytes.length).toBe(context.chunks * contextChunk)
    yield* (yield* LocalFiles).write("/context.tar", bytes)
    const { members } = yield* readTar(yield* makePlainSource("/context.tar"))
    const names = members.map(({ kind, name, target }) =>
      kind === "symlink" ? `${name} -> ${target}` : kind === "directory" ? `${name}/` : name
    )
    const read = (name: string) => {
      const member = members.find((each) => each.name === name)
      return member === undefined ? undefined : textAt(bytes, member.end, member.size)
    }
    return { ...context, names, read }
  })

const long = `${"n".repeat(90)}/${"m".repeat(90)}`

describe("packContext", () => {
  it.effect("refuses more files and directories than a context may have", () =>
    Effect.gen(function*() {
      const { message } = yield* Effect.flip(packContext(directory, section, {}))
      expect(message).toContain("has more than 100,000 files and directories to send")
      expect(message).toContain(".dockerignore")
    }).pipe(Effect.provide(crowded(100_001))))

  it.effect("packs what .dockerignore leaves, and what Docker itself reads", () =>
    Effect.gen(function*() {
      const { bytes, dockerfile, names, read } = yield* pack()
      expect(names).toEqual([
        ".dockerignore",
        "Dockerfile",
        "cache/",
        "cache/keep/",
        "cache/keep/two",
        "dangling -> ../../absent",
        "empty/",
        "keep.md",
        `${"n".repeat(90)}/`,
        long,
        "outside -> /etc/passwd"
      ])
      expect(dockerfile).toBe("Dockerfile")
      expect(read(long)).toBe("long")
      expect(read("keep.md")).toBe("kept")
      expect(bytes).toBeGreaterThan(10)
    }).pipe(Effect.provide(world({
      "web/Dockerfile": "FROM scratch",
      "web/.dockerignore": "*.md\n!keep.md\ncache\n!cache/keep\nDockerfile\n.dockerignore\n",
      "web/keep.md": "kept",
      "web/notes.md": "no",
      "web/cache/one": "no",
      "web/cache/keep/two": "yes",
      "web/cache/other/three": "no",
      "web/empty": { directory: true },
      "web/outside": { link: "/etc/passwd" },
      "web/dangling": { link: "../../absent" },
      [`web/${long}`]: "long",
      "other/file": "no",
      "/etc/passwd": "root"
    }))))

  it.effect("adds a Dockerfile from beside the context, or of the compose file, under a name of its own", () =>
    Effect.gen(function*() {
      const beside = yield* pack({ ...section, dockerfile: "../Other" })
      expect(beside.dockerfile).toMatch(/^\.dockerfile\.[0-9a-f]{20}$/)
      expect(beside.names).toEqual(["a", beside.dockerfile, ".dockerignore"])
      expect(beside.read(beside.dockerfile)).toBe("FROM other")
      expect(beside.read(".dockerignore")).toBe(`b\n\n${beside.dockerfile}\n`)
      const inline = yield* pack({ ...section, inline: "FROM inline" })
      expect(inline.read(inline.dockerfile)).toBe("FROM inline")
    }).pipe(Effect.provide(world({
      "Other": "FROM other",
      "web/.dockerignore": "b\n",
      "web/a": "1",
      "web/b": "2"
    }))))

  it.effect("takes the .dockerignore of the Dockerfile first", () =>
    Effect.gen(function*() {
      const { names } = yield* pack({ ...section, dockerfile: "docker/App" })
      expect(names).toEqual([".dockerignore", "b", "docker/", "docker/App"])
    }).pipe(Effect.provide(world({
      "web/docker/App": "FROM scratch",
      "web/docker/App.dockerignore": "a\ndocker\n",
      "web/.dockerignore": "b",
      "web/a": "1",
      "web/b": "2"
    }))))

  it.effect("reads nothing outside of the project", () =>
    Effect.gen(function*() {
      const refusal = (wanted: Partial<typeof section> | { readonly dockerfile: string }) =>
        Effect.map(Effect.flip(packContext(directory, { ...section, ...wanted }, {})), ({ message }) => message)
      expect(yield* refusal({ dockerfile: "linked" })).toMatch(/linked.* is a link that leads out of the project/)
      expect(yield* refusal({ dockerfile: "../../secret" })).toMatch(/secret is outside of the project/)
      expect(yield* refusal({ dockerfile: "missing" })).toMatch(/missing.* does not exist/)
      expect(yield* refusal({ directory: `${directory}/sly` })).toMatch(/\.dockerignore.* is a link that leads out/)
    }).pipe(Effect.provide(world({
      "/srv/secret": "FROM secret",
      "web/linked": { link: "../../secret" },
      "sly/Dockerfile": "FROM scratch",
      "sly/.dockerignore": { link: "/srv/secret" }
    }))))

  it.effect("names the file of a .dockerignore that Docker refuses", () =>
    Effect.gen(function*() {
      const { message } = yield* Effect.flip(packContext(directory, section, {}))
      expect(message).toMatch(
        /\/srv\/shop\/web\/\.dockerignore cannot be read by Docker|\.dockerignore: cannot be read/
      )
      expect(message).toContain("line 1 has \"!\" alone")
    }).pipe(Effect.provide(world({ "web/Dockerfile": "FROM scratch", "web/.dockerignore": "!" }))))
})
