import { Context, Effect, Either, Layer, Ref, Stream } from "effect"
import { proxyExit, readProxyFile, writeProxyFile } from "../remote/proxy.ts"
import {
  ConnectionLost,
  RemoteFileFailed,
  RemoteOutputTooLong,
  type ServerAccess,
  type SshError
} from "../schema/ssh.ts"
import { checkHostKey, listKeyTypes, previewHostKey, withConfirmed } from "../services/hostKeyRules.ts"
import { HostKeys, type KeyMismatch, withKeyFile } from "../services/HostKeys.ts"
import { renderCommand } from "../services/ssh/loginShell.ts"
import { type RemoteEntry, Sftp, type SftpSession } from "../services/ssh/Sftp.ts"
import {
  countAnswer,
  type ExecOptions,
  type RemoteCommand,
  type RemoteExit,
  Ssh,
  usualLimit
} from "../services/ssh/Ssh.ts"
import { scrubServerSecrets } from "../services/ssh/SshLive.ts"

/** A command that a server was asked to run, with everything that was written to it. */
export interface AskedCommand extends RemoteCommand {
  readonly server: ServerAccess
  readonly input: Buffer
}

/** Exit: absent fields are exit code 0 and no output. `stays`: a spawned one runs until its scope closes. */
export interface SshReply extends Partial<RemoteExit> {
  readonly stays?: boolean
}

/** A reply, an effect that makes one or fails, a function of what was asked, or several for successive calls. */
export type SshAnswer =
  | SshReply
  | Effect.Effect<SshReply, SshError>
  | ((asked: AskedCommand) => SshReply | Effect.Effect<SshReply, SshError>)

/** Commands sent to servers, in order. */
export class SshAsked
  extends Context.Tag("berth/test/SshAsked")<SshAsked, Effect.Effect<ReadonlyArray<AskedCommand>>>()
{}

const all = <E>(input: Stream.Stream<Uint8Array, E>) =>
  Stream.runFold(input, Buffer.alloc(0), (whole, chunk) => Buffer.concat([whole, chunk]))

/**
 * Servers that answer by the command's `what`. A list answers one call after the other, its last entry all further
 * ones. A command without an answer is a defect of the test; a command that a real server would refuse is refused.
 */
export const sshTest = (
  answers: Readonly<Record<string, SshAnswer | ReadonlyArray<SshAnswer>>>
): Layer.Layer<Ssh | SshAsked> =>
  Layer.effectContext(Effect.gen(function*() {
    const asked = yield* Ref.make<ReadonlyArray<AskedCommand>>([])
    const calls = new Map<string, number>()

    const answerTo = (command: AskedCommand): Effect.Effect<SshReply, SshError> => {
      const answer = answers[command.what]
      if (answer === undefined) return Effect.dieMessage(`sshTest has no answer to "${command.what}"`)
      const call = calls.get(command.what) ?? 0
      calls.set(command.what, call + 1)
      const one: SshAnswer | undefined = isList(answer) ? answer[Math.min(call, answer.length - 1)] : answer
      if (one === undefined) return Effect.dieMessage(`sshTest has an empty list for "${command.what}"`)
      const reply = typeof one === "function" ? one(command) : one
      return Effect.isEffect(reply) ? reply : Effect.succeed(reply)
    }

    const ask = <E>(
      server: ServerAccess,
      command: RemoteCommand,
      stdin: Stream.Stream<Uint8Array, E>,
      isWhole: boolean
    ) =>
      Effect.gen(function*() {
        yield* renderCommand(command)
        const input = Buffer.concat([Buffer.from(command.stdin ?? ""), yield* all(stdin)])
        const one = { ...command, server, input }
        yield* Ref.update(asked, (before) => [...before, one])
        const reply = yield* answerTo(one)
        const { help, ...most } = command.limit ?? usualLimit
        const limit = isWhole ? countAnswer({ ...most, help })(new TextEncoder().encode(reply.stdout)) : undefined
        if (limit === undefined) return reply
        const { host, name, port } = server
        return yield* new RemoteOutputTooLong({ server: name, host, port, what: command.what, limit, help })
      })

    const ssh = Ssh.of({
      exec: <E = never>(server: ServerAccess, command: RemoteCommand, options: ExecOptions<E> = {}) =>
        Effect.map(
          ask(server, command, options.stdin ?? Stream.empty, options.keepLast === undefined),
          ({ code = 0, stderr = "", stdout = "", ...rest }) =>
            scrubServerSecrets(server, { code, stdout, stderr, ...rest })
        ),
      spawn: (server, command) =>
        Effect.map(
          ask(server, command, Stream.empty, false),
          ({ code = 0, stays = false, stderr = "", stdout = "" }) => {
            const streamOf = (text: string) => {
              const bytes = Stream.succeed(new TextEncoder().encode(text)).pipe(
                Stream.filter((chunk) => chunk.length > 0)
              )
              return stays ? Stream.concat(bytes, Stream.never) : bytes
            }
            return {
              stdout: streamOf(stdout),
              stderr: streamOf(stderr),
              exit: stays ? Effect.never : Effect.succeed(code),
              resize: () => Effect.void
            }
          }
        )
    })
    return Context.make(Ssh, ssh).pipe(Context.add(SshAsked, Ref.get(asked)))
  }))

const isList = (answer: SshAnswer | ReadonlyArray<SshAnswer>): answer is ReadonlyArray<SshAnswer> =>
  Array.isArray(answer)

/** The failure of a connection that broke, for answers. */
export const lost = (server: Pick<ServerAccess, "host" | "name" | "port">): Effect.Effect<never, ConnectionLost> =>
  new ConnectionLost({
    server: server.name,
    host: server.host,
    port: server.port,
    reason: "the server closed the connection"
  })

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
    (path === "~" || path.startsWith("~/") ? `${home}${path.slice(1)}` : path).replace(/(?<=[^/])\/+$/, "")
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
export const sftpTest = (fixtures: Readonly<Record<string, RemoteFixture>> = {}): Layer.Layer<Sftp | SftpFiles> =>
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

const file = "known_hosts"

/** Host keys in memory, on top of the known_hosts text given. */
export const hostKeysTest = (knownHosts = ""): Layer.Layer<HostKeys> =>
  Layer.effect(
    HostKeys,
    Effect.map(Ref.make(knownHosts), (text) =>
      HostKeys.of({
        file,
        knownTypes: (server) => Effect.map(Ref.get(text), (text) => listKeyTypes(text, server)),
        standing: (server, key) =>
          Effect.map(Ref.get(text), (text) => withKeyFile(file)(previewHostKey(text, server, key))),
        confirm: (server, print, replaces, addsRoute) =>
          Effect.flatMap(Ref.get(text), (before) =>
            Either.match(withConfirmed(before, server, print, replaces, addsRoute), {
              onLeft: (other): Effect.Effect<KeyMismatch | "confirmed"> => Effect.succeed({ ...other, file }),
              onRight: (confirmed) => Effect.as(Ref.set(text, confirmed), "confirmed" as const)
            })),
        check: (server, key) =>
          Ref.modify(text, (text) => {
            const judged = checkHostKey(text, server, key)
            return [withKeyFile(file)(judged.answer), judged.text]
          })
      }))
  )

/** Current content of the proxy file. */
export class ProxyFileText extends Context.Tag("berth/test/ProxyFileText")<ProxyFileText, Effect.Effect<string>>() {}

const staged = (path: string) => path.replace(/^~\//, "")
const exit = (code: number, stdout = ""): RemoteExit => ({ code, stdout, stderr: code === 0 ? "" : "it did not work" })

/**
 * A server whose only file is the proxy file, in memory.
 * @param unread result of reading it, if that fails
 */
export const proxyFileTest = (
  file: string,
  text: string,
  unread: Effect.Effect<RemoteExit, SshError> | undefined = undefined
): Layer.Layer<Ssh | Sftp | ProxyFileText> =>
  Layer.effectContext(Effect.gen(function*() {
    const content = yield* Ref.make(text)
    const copies = yield* Ref.make<ReadonlyMap<string, string>>(new Map())
    const names = { before: "", after: "" }
    const reading = readProxyFile(file).what
    const writing = writeProxyFile(file, names).what

    const write = ([, before = "", after = ""]: ReadonlyArray<string>) =>
      Effect.gen(function*() {
        const known = yield* Ref.get(copies)
        if (known.get(before) !== (yield* Ref.get(content))) return exit(proxyExit.changed)
        yield* Ref.set(content, known.get(after) ?? "")
        return exit(0)
      })

    const ssh = Ssh.of({
      exec: (_, command) =>
        command.what === reading
          ? unread ?? Effect.map(Ref.get(content), (now) => exit(0, now))
          : command.what === writing
          ? write(command.args)
          : Effect.succeed(exit(0)),
      spawn: () => Effect.dieMessage("not in this test")
    })
    const sftp = Sftp.of({
      session: () =>
        Effect.succeed({
          stat: () => Effect.dieMessage("not in this test"),
          list: () => Effect.dieMessage("not in this test"),
          read: () => Stream.dieMessage("not in this test"),
          writePrivate: (path, bytes) =>
            Ref.update(copies, (before) => new Map([...before, [staged(path), new TextDecoder().decode(bytes)]]))
        })
    })
    return Context.make(Ssh, ssh).pipe(Context.add(Sftp, sftp), Context.add(ProxyFileText, Ref.get(content)))
  }))
