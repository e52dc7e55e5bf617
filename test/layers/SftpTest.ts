import { Context, Effect, Layer, Ref, Stream } from "effect"
import type { ServerAccess } from "../../src/schema/servers/Server.ts"
import { RemoteFileFailed } from "../../src/schema/servers/Ssh.ts"
import type { RemoteEntry, SftpSession } from "../../src/services/ssh/Sftp.ts"
import { Sftp } from "../../src/services/ssh/Sftp.ts"

/** Entry at an absolute remote path. Directories follow from their content. */
export type RemoteFixture = string | Uint8Array | { readonly link: string } | { readonly directory: true }

/** Current files of the server by absolute path, as bytes. */
export class SftpFiles
  extends Context.Tag("berth/test/SftpFiles")<SftpFiles, Effect.Effect<ReadonlyMap<string, RemoteFixture>>>()
{}

const home = "/home/deployer"

const bytesOf = (content: string | Uint8Array) =>
  typeof content === "string" ? new TextEncoder().encode(content) : content

const parentsOf = (path: string): ReadonlyArray<string> =>
  path.split("/").slice(1, -1).map((_, index, names) => `/${names.slice(0, index + 1).join("/")}`)

const entryOf = (path: string, fixture: RemoteFixture): RemoteEntry => {
  const name = path.split("/").at(-1) ?? ""
  if (typeof fixture === "string" || fixture instanceof Uint8Array) {
    return { name, kind: "file", size: bytesOf(fixture).length }
  }
  return "link" in fixture ? { name, kind: "link", size: fixture.link.length } : { name, kind: "directory", size: 4096 }
}

const sessionOf = (server: ServerAccess, files: Ref.Ref<ReadonlyMap<string, RemoteFixture>>): SftpSession => {
  const failed = (path: string, reason: string) =>
    new RemoteFileFailed({ server: server.name, host: server.host, port: server.port, path, reason })
  const absolute = (path: string) =>
    (path === "~" || path.startsWith("~/") ? `${home}${path.slice(1)}` : path).replace(/(?<=.)\/+$/, "")
  const at = (path: string) =>
    Effect.flatMap(Ref.get(files), (files) => {
      const found = files.get(absolute(path))
      return found === undefined ? failed(path, "no such file or directory") : Effect.succeed(found)
    })
  return {
    stat: (path) => Effect.map(at(path), (found) => entryOf(absolute(path), found)),
    list: (path) =>
      Stream.fromIterableEffect(Effect.gen(function*() {
        const found = yield* at(path)
        if (entryOf(path, found).kind !== "directory") return yield* failed(path, "not a directory")
        const above = absolute(path) === "/" ? "/" : `${absolute(path)}/`
        return [...yield* Ref.get(files)]
          .filter(([name]) => name !== "/" && name.startsWith(above) && !name.slice(above.length).includes("/"))
          .map(([name, fixture]) => entryOf(name, fixture))
      })),
    read: (path) =>
      Stream.unwrap(Effect.map(at(path), (found) =>
        typeof found === "string" || found instanceof Uint8Array
          ? Stream.succeed(bytesOf(found))
          : Stream.fail(failed(path, "the server reports a failure without a reason")))),
    writePrivate: (path, content) =>
      Effect.gen(function*() {
        const before = yield* Ref.get(files)
        const name = absolute(path)
        if (before.has(name)) return yield* failed(path, "the name is taken")
        if (!before.has(parentsOf(name).at(-1) ?? "/")) return yield* failed(path, "no such file or directory")
        yield* Ref.set(files, new Map([...before, [name, content] as const]))
      })
  }
}

/** A server's files in memory, by absolute path; the home is /home/deployer. Every server sees the same ones. */
export const SftpTest = (fixtures: Readonly<Record<string, RemoteFixture>> = {}): Layer.Layer<Sftp | SftpFiles> =>
  Layer.effectContext(Effect.gen(function*() {
    const directories = ["/", home, ...parentsOf(home), ...Object.keys(fixtures).flatMap(parentsOf)]
    const files = yield* Ref.make<ReadonlyMap<string, RemoteFixture>>(
      new Map<string, RemoteFixture>([
        ...directories.map((path) => [path, { directory: true }] as const),
        ...Object.entries(fixtures)
      ])
    )
    return Context.make(Sftp, Sftp.of({ session: (server) => Effect.succeed(sessionOf(server, files)) })).pipe(
      Context.add(SftpFiles, Ref.get(files))
    )
  }))
