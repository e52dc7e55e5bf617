// Decides from the reports of the pieces what is run again, what failed, and the words of the summary.
import { type FileResult, keyOf, type Report } from "./report.ts"

/** A command of `.ci/run` with an end of its own. */
export interface Piece {
  readonly name: string
  /** The gate always runs whole; a further suite is begun while there is time. */
  readonly part: "gate" | "further"
  /** Program and arguments. */
  readonly command: ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string>>
  /** Minutes after which it is ended. */
  readonly minutes: number
  /** True where it leaves a report; a check has its exit code alone. */
  readonly isTests: boolean
}

export interface Outcome {
  readonly piece: Piece
  /** `cut`: ended by its own limit; `late`: by the end of the whole run. */
  readonly exit: "passed" | "failed" | "cut" | "late"
  readonly seconds: number
  readonly report: Report
}

type FileOf = Pick<FileResult, "file" | "project">

/** A failure by what is run again for it: a file, or a piece whose failure no file explains. */
export interface Failure {
  readonly piece: Piece
  readonly file?: FileOf
  readonly reasons: ReadonlyArray<string>
  /** Names of the tests that failed; none where the file or the piece failed as a whole. */
  readonly tests: ReadonlyArray<string>
  /** `never`: what a second run would not change. */
  readonly again: "alone" | "whole" | "never"
  /** True where nothing failed, and it only was not done when its piece was ended. */
  readonly isUnfinished: boolean
}

export const keyOfFailure = ({ file, piece }: Pick<Failure, "file" | "piece">): string =>
  file === undefined ? piece.name : `${piece.name}: ${keyOf(file)}`

const reasonsOf = ({ problem, tests }: FileResult): ReadonlyArray<string> => [
  ...tests.flatMap(({ name, reason, state }) => state === "failed" ? [`${name}: ${reason ?? ""}`] : []),
  ...problem === undefined ? [] : [`as a whole: ${problem}`]
]

const wasEnded = ({ exit }: Outcome) => exit === "cut" || exit === "late"

/** Failures of a run of a piece; a file appears once, with all of its reasons. */
export const failuresOf = (outcome: Outcome): ReadonlyArray<Failure> => {
  const { exit, piece, report } = outcome
  const whole = (again: Failure["again"], reason: string): Failure => ({
    piece,
    reasons: [reason],
    tests: [],
    again,
    isUnfinished: false
  })
  const endedAfter = `was ended after ${Math.round(outcome.seconds / 60)} minutes`
  if (!piece.isTests) {
    return exit === "passed" ? [] : [whole("never", wasEnded(outcome) ? endedAfter : "failed")]
  }
  interface FailedFile {
    readonly file: FileOf
    readonly reasons: Array<string>
    readonly tests: ReadonlyArray<string>
    isUnfinished: boolean
  }
  const failedTests = (file: FileOf) =>
    (report.files.find((each) => keyOf(each) === keyOf(file))?.tests ?? []).flatMap(({ name, state }) =>
      state === "failed" ? [name] : []
    )
  const byFile = new Map<string, FailedFile>()
  const add = (file: FileOf, reasons: ReadonlyArray<string>, isUnfinished = false) => {
    if (reasons.length === 0) return
    const known = byFile.get(keyOf(file)) ??
      { file, reasons: [], tests: failedTests(file), isUnfinished: true }
    known.reasons.push(...reasons)
    known.isUnfinished &&= isUnfinished
    byFile.set(keyOf(file), known)
  }
  for (const result of report.files) add(result, reasonsOf(result))
  const underWay = wasEnded(outcome) ? `was running when its piece ${endedAfter}` : "its process died"
  // A run that died does not say which files were to come.
  const isKnown = report.ended || wasEnded(outcome)
  for (const file of isKnown ? report.underWay : []) add(file, [underWay], wasEnded(outcome))
  const strayOfPiece = report.stray.flatMap(({ file, reason }) => {
    const owner = [...report.files, ...report.underWay].find((each) => each.file === file)
    if (owner === undefined) return [whole("whole", `an error outside of every test: ${reason}`)]
    add(owner, [`an error outside of every test: ${reason}`])
    return []
  })
  const files = [...byFile.values()].map((each): Failure => ({ piece, again: "alone", ...each }))
  const found = [...files, ...strayOfPiece]
  if (wasEnded(outcome)) {
    // Of the gate each file has to run; of a further suite the rest gets its turn with another commit.
    return piece.part === "gate" ? [...found, whole("never", endedAfter)] : found
  }
  if (!report.ended) return [...found, whole("whole", "left no whole report")]
  return exit === "failed" && found.length === 0
    ? [whole("whole", "ended with a failure that its report does not have")]
    : found
}

/** Minutes that one file may take by itself, on a slow machine. */
const mostMinutesOfFile = 9

/** The piece that runs a failure again: a file with nothing beside it, or the whole piece. */
export const repeatOf = ({ again, file, piece }: Failure): Piece =>
  again === "alone" && file !== undefined
    ? {
      ...piece,
      name: `${piece.name} again: ${file.file}`,
      command: ["npx", "vitest", "run", "--project", file.project, "--minWorkers=1", "--maxWorkers=1", file.file],
      env: { ...piece.env, ...file.project === "near" ? { BERTH_TEST_PROJECTS: "near" } : {} },
      minutes: Math.min(piece.minutes, mostMinutesOfFile)
    }
    : { ...piece, name: `${piece.name} again` }

export interface Ran {
  /** First run of each piece, in their order. */
  readonly outcomes: ReadonlyArray<Outcome>
  /** Further runs, by `keyOfFailure` of the failure in the first. */
  readonly repeats: ReadonlyMap<string, ReadonlyArray<Outcome>>
  readonly notBegun: ReadonlyArray<Piece>
}

export interface Rules {
  /** Number of tests that a file may skip, and why. */
  readonly maySkip: ReadonlyMap<string, readonly [count: number, reason: string]>
  /** True where everything that tests need was installed, so that a skipped test is one too many. */
  readonly isWhole: boolean
  /** True for a file with cases that BERTH_SLOW_TESTS=1 alone takes in. */
  readonly hasSlowCases: (file: string) => boolean
  /** Factor by which this machine is slower than a quiet one. */
  readonly slowness: number
  /** Counts that tests report of themselves, without any of which the run proves too little. */
  readonly counts: ReadonlyArray<string>
}

/**
 * The further run of a failure that passed. One that skips what failed before, for want of Docker for instance, proves
 * nothing.
 */
const findPass = (failure: Failure, repeats: Ran["repeats"]): Outcome | undefined =>
  repeats.get(keyOfFailure(failure))?.find((each) => {
    const tests = each.report.files.flatMap((file) => file.tests)
    const skipsFailed = tests.some(({ name, state }) => state === "skipped" && failure.tests.includes(name))
    return each.exit === "passed" && failuresOf(each).length === 0 && !skipsFailed &&
      tests.some(({ state }) => state === "passed")
  })

/** Failures that no further run passed so far. */
export const redOf = (outcomes: ReadonlyArray<Outcome>, repeats: Ran["repeats"]): ReadonlyArray<Failure> =>
  outcomes.flatMap(failuresOf).filter((each) => findPass(each, repeats) === undefined)

/** Failures that are to be run once more. */
export const failuresToRepeat = (
  outcomes: ReadonlyArray<Outcome>,
  repeats: Ran["repeats"]
): ReadonlyArray<Failure> => redOf(outcomes, repeats).filter(({ again }) => again !== "never")

export const nameOf = ({ file, piece }: Pick<Failure, "file" | "piece">): string =>
  file === undefined ? piece.name : file.file

export const commandOf = ({ command, env = {} }: Piece): string =>
  [...Object.entries(env).map(([name, value]) => `${name}=${value}`), ...command].join(" ")

// Engines of other Debian releases, whose packages are not always to be had.
const ofOptionalEngine = / \(needs engine\d+\)/

const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((all, each) => all + each, 0)

/** Summary of a run in plain lines, the last of them the sum, and whether the run is green. */
export const summarize = (
  ran: Ran,
  rules: Rules
): { readonly lines: ReadonlyArray<string>; readonly isGreen: boolean } => {
  const lines: Array<string> = []
  const problems: Array<string> = []
  const failures = ran.outcomes.flatMap(failuresOf)
  const repeatsOf = (failure: Failure) => ran.repeats.get(keyOfFailure(failure)) ?? []
  const isMoody = (failure: Failure) => findPass(failure, ran.repeats) !== undefined
  // Not done is not failed, as long as no run of it failed.
  const isLeft = (failure: Failure) =>
    failure.isUnfinished && failure.piece.part === "further" && repeatsOf(failure).every(({ exit }) => exit === "late")
  const moody = failures.filter(isMoody)
  const left = failures.filter((each) => !isMoody(each) && isLeft(each))
  const red = failures.filter((each) => !isMoody(each) && !isLeft(each))

  /** Results of a piece: for what was run again those of the run that passed, else those of the first. */
  const filesOf = (outcome: Outcome): ReadonlyArray<FileResult> => {
    const again = moody.filter(({ piece }) => piece.name === outcome.piece.name)
    const passing = (failure: Failure) => findPass(failure, ran.repeats)?.report.files ?? []
    const whole = again.find(({ file }) => file === undefined)
    if (whole !== undefined) return passing(whole)
    const replaced = new Map(again.flatMap(passing).map((file) => [keyOf(file), file]))
    const first = outcome.report.files.map((file) => replaced.get(keyOf(file)) ?? file)
    const known = new Set(first.map(keyOf))
    return [...first, ...[...replaced.values()].filter((file) => !known.has(keyOf(file)))]
  }

  const count = { passed: 0, failed: 0, skipped: 0 }
  const counted: Array<{ readonly what: string; readonly count: number; readonly by?: string }> = []
  for (const outcome of ran.outcomes) {
    const { exit, piece, seconds } = outcome
    const took = `${Math.round(seconds)} s`
    if (!piece.isTests) {
      lines.push(`${piece.name}: ${exit}, ${took}`)
      continue
    }
    const files = filesOf(outcome)
    const tests = files.flatMap((file) => file.tests)
    const inState = (state: string) => tests.filter((test) => test.state === state).length
    const [passed, skipped] = [inState("passed"), inState("skipped")]
    count.passed += passed
    count.skipped += skipped
    lines.push(`${piece.name}: ${passed} passed, ${inState("failed")} failed, ${skipped} skipped, ${took}`)
    if (passed === 0 && piece.part === "gate") problems.push(`${piece.name}: no test passed`)
    for (const { file, project, tests } of files) {
      counted.push(
        ...tests.flatMap((test) => test.state === "passed" && test.counted !== undefined ? [test.counted] : [])
      )
      const isForced = ({ name, state }: FileResult["tests"][number]) =>
        state === "skipped" && !ofOptionalEngine.test(name)
      const all = tests.filter(({ state }) => state === "skipped").length
      const [allowed, why] = rules.maySkip.get(file) ?? [0]
      if (all > 0) lines.push(`skipped: ${all} in ${file} (${project})${why === undefined ? "" : `: ${why}`}`)
      const leavesOut = piece.env?.["BERTH_SLOW_TESTS"] !== "1" && rules.hasSlowCases(file)
      const tooMany = tests.filter(isForced).length > allowed
      if (rules.isWhole && tooMany && !leavesOut) problems.push(`${file}: ${all} tests were skipped`)
    }
  }

  const timed = ran.outcomes.flatMap(({ piece, report }) => report.files.map((file) => ({ ...file, part: piece.part })))
    .toSorted((one, other) => other.seconds - one.seconds)
  if (timed.length > 0) {
    const longest = timed.slice(0, 20).map(({ file, seconds }) => `${file} ${Math.round(seconds)} s`)
    lines.push(`slowest: ${longest.join(", ")}`)
  }
  for (const { file, part, seconds } of timed) {
    if (part === "gate" && seconds / rules.slowness > 30) lines.push(`slow: ${file} ${Math.round(seconds)} s`)
  }
  for (const what of new Set([...rules.counts, ...counted.map((each) => each.what)])) {
    const mine = counted.filter((each) => each.what === what)
    const all = sum(mine.map((each) => each.count))
    lines.push([`${what}: ${all}`, ...mine.flatMap(({ by }) => by === undefined ? [] : [by])].join(", "))
    if (all === 0) problems.push(`no ${what} ran`)
  }

  const say = (word: string, each: Failure) =>
    lines.push(...each.reasons.map((reason) => `${word}: ${nameOf(each)}: ${reason}`))
  for (const piece of ran.notBegun) lines.push(`not begun: ${piece.name}: ${commandOf(piece)}`)
  for (const outcome of ran.outcomes.filter((each) => wasEnded(each) && each.piece.part === "further")) {
    lines.push(`not finished: ${outcome.piece.name}: ${commandOf(outcome.piece)}`)
  }
  for (const each of left) say("not finished", each)
  for (const each of moody) say("moody", each)
  for (const each of red) {
    say("failed", each)
    count.failed += each.reasons.length
  }
  if (count.passed === 0) problems.push("no test passed")
  lines.push(...problems.map((problem) => `not good: ${problem}`))
  lines.push(`tests: ${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`)
  return { lines, isGreen: red.length === 0 && problems.length === 0 }
}
