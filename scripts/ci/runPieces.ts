// Decides what runs when: the gate whole and what failed in it again, alone, then further suites while there is time.
import {
  type Failure,
  failuresToRepeat,
  keyOfFailure,
  type Outcome,
  type Piece,
  type Ran,
  redOf,
  repeatOf
} from "./judge.ts"

/** Minutes from the start of the run after which nothing of a part runs any more, first or again. */
const ends = { gate: 80, further: 47 } as const

/** Minutes after which nothing of the gate is run again: its failures are red then. */
const endOfRepeats = 60

/** Minutes below which a further run is not worth its beginning. */
const shortestRun = 1

export interface Running {
  readonly gate: ReadonlyArray<Piece>
  /** In the order in which they are begun. */
  readonly further: ReadonlyArray<Piece>
  /** Minutes in which further suites are begun. */
  readonly furtherMinutes: number
  /** Minutes since the start of the run. */
  readonly minutes: () => number
  /** Runs a piece for so many minutes at most. */
  readonly run: (piece: Piece, minutesLeft: number) => Promise<Outcome>
  /** Tells what of the gate did not pass in any run, as soon as that is known. */
  readonly onGate: (red: ReadonlyArray<Failure>) => void
}

/** Checks at a time: most of each is one process that computes. */
const checksAtOnce = 2

export const runPieces = async ({ further, furtherMinutes, gate, minutes, onGate, run }: Running): Promise<Ran> => {
  const runPart = (piece: Piece) => run(piece, Math.max(0, ends[piece.part] - minutes()))
  const outcomes: Array<Outcome> = []
  const notBegun: Array<Piece> = []
  const repeats = new Map<string, ReadonlyArray<Outcome>>()
  // A second run of each first, and a third of those that failed again.
  const repeat = async (part: Piece["part"], end: number) => {
    for (const _ of [2, 3]) {
      for (const failure of failuresToRepeat(outcomes, repeats).filter(({ piece }) => piece.part === part)) {
        if (minutes() > end - shortestRun) continue
        const key = keyOfFailure(failure)
        repeats.set(key, [...repeats.get(key) ?? [], await runPart(repeatOf(failure))])
      }
    }
  }
  // Tests have the machine to themselves.
  const checks = gate.filter(({ isTests }) => !isTests)
  const checked = new Map<Piece, Outcome>()
  const begin = checks.values()
  const lane = async () => {
    for (const piece of begin) checked.set(piece, await runPart(piece))
  }
  await Promise.all(Array.from({ length: checksAtOnce }, lane))
  outcomes.push(...checks.flatMap((piece) => checked.get(piece) ?? []))
  for (const piece of gate.filter(({ isTests }) => isTests)) outcomes.push(await runPart(piece))
  await repeat("gate", endOfRepeats)
  onGate(redOf(outcomes, repeats))
  for (const piece of further) {
    if (minutes() < furtherMinutes) outcomes.push(await runPart(piece))
    else notBegun.push(piece)
  }
  await repeat("further", ends.further)
  return { outcomes, repeats, notBegun }
}
