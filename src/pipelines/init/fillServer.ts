import { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import { containerConfigName } from "../../schema/projects/Project.ts"
import { LocalFiles } from "../../services/local/LocalFiles.ts"
import { readContainerConfig } from "../projects/files/containerConfig.ts"
import { projectText } from "../projects/files/projectText.ts"

/** A string of JSON has its quotes escaped, so nothing else of a valid file looks like this. */
const emptyServer = /("serverId"\s*:\s*)""/

/**
 * Names a server in a `container.json` that leaves its `serverId` empty, as `init` writes it where there are several; all
 * else in the file stays as it is.
 * @returns true if the file is changed, or with a plan would be
 */
export const fillServer = Effect.fn("init.fillServer")(function*(directory: string, server: string, isPlan: boolean) {
  if (server === "") return false
  // The project's problems report a file that cannot be used.
  const config = yield* Effect.option(readContainerConfig(directory))
  if (!Option.exists(config, ({ serverId }) => serverId === "")) return false
  const text = Option.getOrElse(yield* projectText(directory, containerConfigName), () => "")
  if (!emptyServer.test(text)) return false
  if (isPlan) return true
  const file = (yield* Path.Path).join(directory, containerConfigName)
  const filled = text.replace(emptyServer, (_, before: string) => `${before}${JSON.stringify(server)}`)
  yield* (yield* LocalFiles).write(file, filled)
  return true
})
