import { Data, Effect, type Scope, Stream } from "effect"
import { pullImagesCommand } from "../../remote/deploy/pullImagesCommand.ts"
import { scrubServerOutput } from "../../remote/execute.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import type { SshError } from "../../schema/servers/Ssh.ts"
import { emitOutput } from "../../services/runs/events/emitOutput.ts"
import type { Steps } from "../../services/runs/Steps.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import { spawnWatched, type WatchedError } from "../../services/ssh/spawnWatched.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { describeDockerRefusal } from "../servers/describeDockerRefusal.ts"

/** A registry did not deliver an image. */
export class PullRefused extends Data.TaggedError("PullRefused")<{
  readonly image: string
  readonly server: string
  /** Message of the registry or of Docker. */
  readonly words: string
}> {
  override get message() {
    const missing = /access denied|not found|unknown|does not exist/i.test(this.words)
    return `"${this.server}" cannot pull ${this.image}: ${this.words.replace(/\.$/, "")}` +
      (missing ? ". An image of the project's own comes in an archive (*.tar): build that first" : "")
  }
}

/** Pulling and unpacking layers prints nothing until it is done. */
const silence = "30 minutes"

/** Makes a server pull images from their registries. Images already pulled stay if a later one fails. */
export const pullImages = Effect.fn("deploy.pullImages")(function*(
  server: ServerAccess,
  remotePath: string,
  names: ReadonlyArray<string>,
  containerdStore: boolean
): Effect.fn.Return<void, PullRefused | SshError | WatchedError, Scope.Scope | Settings | Ssh | Steps> {
  const output = yield* emitOutput("stdout")
  const command = pullImagesCommand(remotePath, names, containerdStore, server.useSudo)
  const process = yield* spawnWatched(server, command, { silence })
  let refused = names[0] ?? ""
  yield* Stream.runForEach(process.lines, (line) => {
    const [key, name = ""] = line.split("\t")
    if (key === "pull" || key === "refused") refused = name
    return key === "refused" || key === "pull" ? Effect.void : output.emit(`${line}\n`)
  })
  if ((yield* process.exit) === 0) return
  const words = describeDockerRefusal(scrubServerOutput(server, yield* process.stderr), server)
  return yield* new PullRefused({ image: refused, server: server.name, words })
})
