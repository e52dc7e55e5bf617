import { Clock, Effect, Either } from "effect"
import { makeCommandFailed } from "../../remote/execute.ts"
import { parseSample, sampleCommand, sampleExit } from "../../remote/server/sampleCommand.ts"
import type { StatsPoint } from "../../schema/StatsHistory.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { Ssh } from "../../services/ssh/Ssh.ts"
import { describeDockerRefusal } from "../servers/describeDockerRefusal.ts"

const longestError = 300

const ask = (id: string) =>
  Effect.gen(function*() {
    const access = yield* (yield* Settings).server(id)
    const command = sampleCommand(access.useSudo)
    const { code, stderr, stdout } = yield* (yield* Ssh).exec(access, command, { timeout: "30 seconds" })
    const error = code === 0
      ? undefined
      : code === sampleExit.noDocker
      ? describeDockerRefusal(stderr.trim(), access)
      : makeCommandFailed(access, command, code, stderr).message
    return { stdout, error }
  })

/** Samples the usage of a server and its containers. A failure is a point with its reason. */
export const takeSample = Effect.fn("stats.takeSample")(function*(id: string) {
  const at = new Date(yield* Clock.currentTimeMillis).toISOString()
  const asked = yield* Effect.either(ask(id))
  const { error, stdout } = Either.getOrElse(asked, ({ message }) => ({ stdout: "", error: message }))
  const point: StatsPoint = { at, ...parseSample(stdout) }
  return error === undefined ? point : { ...point, error: (yield* scrubSecrets(error)).slice(0, longestError) }
})
