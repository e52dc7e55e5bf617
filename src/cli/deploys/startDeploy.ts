import { Effect } from "effect"
import { Berth, type Call } from "../../client/Berth.ts"
import { suggestCommand } from "../connection/withService.ts"
import { followRun } from "../runs/followRun.ts"
import { suggestFollowing } from "../runs/handleInterrupt.ts"
import { Failed } from "../terminal/commandErrors.ts"
import { escapeInline } from "../terminal/safeText.ts"
import { Screen } from "../terminal/Screen.ts"

/** Name of a project by its directory. */
export const projectName = (path: string) => escapeInline(path.split(/[/\\]/).at(-1) ?? path)

/** Builds a project's image archive; fails if the build fails. */
export const buildFirst = (projectPath: string) =>
  Effect.gen(function*() {
    const { value } = yield* followRun((api) => api.build({ payload: { projectPath } }))
    if (value.success) return
    return yield* new Failed({
      message: `The build of ${projectName(projectPath)} failed with exit code ${
        value.exitCode ?? "none"
      }: nothing was deployed`
    })
  })

/** Starts a deploy and prints the id of its run. */
export const startWithoutWaiting = <A>(projectPath: string, call: Call<A>, json: boolean) =>
  Effect.gen(function*() {
    const { start } = yield* Berth
    const { print, say } = yield* Screen
    const { run } = yield* start(call)
    yield* print(json ? JSON.stringify(run) : run.id)
    yield* say(`The deploy of ${projectName(projectPath)} continues.\n${yield* suggestFollowing(run)}`)
    // Uninterruptible: Ctrl-C must not hide the id of a started run.
  }).pipe(Effect.uninterruptible)

/** Fails unless a deploy would outlive this process. */
export const requireService = Effect.gen(function*() {
  const { outlives } = yield* Berth
  if (yield* outlives()) return
  const serve = yield* suggestCommand("berth serve")
  return yield* new Failed({
    message: "--no-wait needs a running service, which carries the deploy to its end: nothing was changed. Start one " +
      `with ${serve}, or leave out --no-wait`
  })
})
