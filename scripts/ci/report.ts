// The report of a run of tests: a line of JSON for each file that begins or ends, so that a run that is cut off or dies
// leaves what it found until then.

/** Cases that a test counted of itself (`test/fixtures/ran.ts`). */
export interface Counted {
  readonly what: string
  readonly count: number
  readonly by?: string
}

export interface TestResult {
  readonly name: string
  readonly state: "passed" | "failed" | "skipped"
  /** First line of the error of a failed test. */
  readonly reason?: string
  readonly counted?: Counted
}

export interface FileResult {
  /** Path from the root of the repository. */
  readonly file: string
  /** Project of vitest: a file can run in several. */
  readonly project: string
  readonly seconds: number
  readonly tests: ReadonlyArray<TestResult>
  /** Reason why the file failed as a whole: it could not be loaded, or a hook of it failed. */
  readonly problem?: string
}

/** A failure outside of every test, and the file that was running where vitest knows it. */
export interface StrayError {
  readonly file?: string
  readonly reason: string
}

export type ReportLine =
  | { readonly begun: string; readonly project: string }
  | { readonly result: FileResult }
  | { readonly stray: StrayError }
  | { readonly ended: true }

export interface Report {
  readonly files: ReadonlyArray<FileResult>
  /** Files that had begun and not ended when the report did. */
  readonly underWay: ReadonlyArray<Pick<FileResult, "file" | "project">>
  readonly stray: ReadonlyArray<StrayError>
  /** False for a run that was cut off or died. */
  readonly ended: boolean
}

export const keyOf = ({ file, project }: Pick<FileResult, "file" | "project">): string => `${project} ${file}`

/** Reads the lines of a report; one that was cut off in the middle, and what no reporter wrote, is left out. */
export const readReport = (text: string): Report => {
  const lines = text.split("\n").flatMap((line): ReadonlyArray<ReportLine> => {
    try {
      return line === "" ? [] : [JSON.parse(line)]
    } catch {
      return []
    }
  })
  const files = lines.flatMap((line) => "result" in line ? [line.result] : [])
  const done = new Set(files.map(keyOf))
  return {
    files,
    underWay: lines
      .flatMap((line) => "begun" in line ? [{ file: line.begun, project: line.project }] : [])
      .filter((each) => !done.has(keyOf(each))),
    stray: lines.flatMap((line) => "stray" in line ? [line.stray] : []),
    ended: lines.some((line) => "ended" in line)
  }
}
