import { Effect, Option, Stream } from "effect"
import { Berth } from "../../client/Berth.ts"
import { isEnded, type Run } from "../../schema/runs/Run.ts"
import { suggestCommand } from "../connection/withService.ts"
import { Interrupts } from "../terminal/Interrupts.ts"
import { escapeInline } from "../terminal/safeText.ts"
import { Screen } from "../terminal/Screen.ts"
import { formatRunLabel } from "./stepLines.ts"

const endWords = (run: Run) =>
  run.state === "succeeded"
    ? `The ${formatRunLabel(run)} succeeded`
    : `The ${formatRunLabel(run)} ${run.state === "failed" ? "failed" : `was ${run.state}`}${
      run.error === null ? "" : `: ${escapeInline(run.error.error)}`
    }`

/** Suggests the commands that follow and cancel a run. */
export const suggestFollowing = (run: Run) =>
  Effect.gen(function*() {
    const follow = yield* suggestCommand(`berth runs ${run.id} -f`)
    const cancel = yield* suggestCommand(`berth cancel ${run.id}`)
    return `  Follow it with: ${follow}\n  Cancel it with: ${cancel}`
  })

/** Reports an unfinished run after Ctrl-C; waits for it if it cannot outlive this process. */
export const handleInterrupt = (run: Run) =>
  Effect.gen(function*() {
    const { outlives, runEvents } = yield* Berth
    const { canAsk, say, show } = yield* Screen
    yield* show([])
    if (isEnded(run.state)) return yield* say(endWords(run))
    const state = run.state === "queued" ? "waits for its turn and then continues" : "continues"
    if (yield* outlives(run.id)) {
      return yield* say(`The ${formatRunLabel(run)} ${state}.\n${yield* suggestFollowing(run)}`)
    }
    const again = canAsk ? "Ctrl-C once more asks whether to cancel it" : "Ctrl-C once more leaves at once"
    yield* say(
      `The ${formatRunLabel(run)} ${state} until it has ended; waiting for it, as no service runs that could. ${again}`
    )
    const ended = Stream.runLast(runEvents(run.id)).pipe(
      Effect.map(Option.match({
        onNone: () => "",
        onSome: (event) => event.event === "end" ? endWords(event.data) : ""
      })),
      Effect.catchAll(({ message }) => Effect.succeed(escapeInline(message)))
    )
    const asked = canAsk ? Effect.forever(askToCancel(run)) : Effect.never
    // Runs in an uninterruptible finalizer: the race would wait for a loser that it cannot interrupt. A question ends
    // its own line.
    const words = yield* Effect.raceFirst(Effect.interruptible(ended), Effect.interruptible(asked))
    if (words !== "") yield* say(words)
  })

/** Asks on the next Ctrl-C whether to cancel the awaited run. Another Ctrl-C at the question exits immediately. */
const askToCancel = (run: Run) =>
  Effect.gen(function*() {
    const { use } = yield* Berth
    const { ask, say } = yield* Screen
    yield* (yield* Interrupts).next
    if (!(yield* ask(`Cancel the ${formatRunLabel(run)}?`))) {
      return yield* say(`The ${formatRunLabel(run)} continues; waiting until it has ended`)
    }
    yield* say(`The ${formatRunLabel(run)} stops at its next safe point`)
    yield* Effect.catchAll(
      use((api) => api.cancelRun({ path: { id: run.id } })),
      ({ message }) => say(escapeInline(message))
    )
  })
