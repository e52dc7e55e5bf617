import { Context, Effect, Layer, Ref, Stream } from "effect"
import { proxyExit, readProxyFile, writeProxyFile } from "../../src/remote/proxy/proxyFileCommands.ts"
import type { SshError } from "../../src/schema/servers/Ssh.ts"
import { Sftp } from "../../src/services/ssh/Sftp.ts"
import { type RemoteExit, Ssh } from "../../src/services/ssh/Ssh.ts"

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
