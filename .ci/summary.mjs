// Says what ran, by the reports that the suites left: plain lines, the last of them the sum. Ends with 1 when anything
// failed, or when one of the things that have to run did not.
import { readFileSync } from "node:fs"
import { join } from "node:path"

const [reports, status] = process.argv.slice(2)
const say = (line) => process.stdout.write(`${line}\n`)
const died = { numPassedTests: 0, numFailedTests: 1, numPendingTests: 0, success: false, testResults: [] }
const reportOf = (suite) => {
  try {
    return JSON.parse(readFileSync(join(reports, `${suite}.json`), "utf8"))
  } catch {
    return died
  }
}
const [usual, slow] = ["test", "test:faults"].map(reportOf)
const passedIn = ({ testResults }) =>
  testResults.flatMap(({ assertionResults, name }) =>
    assertionResults.filter((test) => test.status === "passed").map((test) => ({ ...test, file: name }))
  )

// The doubles of test/sandbox go wrong on purpose: that they can is no fault that Berth met.
const faultWords = new RegExp(
  [
    "connection (breaks|broke)|broken connection|lost connection|breaks off|hangs up|cannot be reached|unreachable",
    "nobody listens|answer was lost|never answered|does not answer|never ends|that hangs|disk hangs|full disk",
    "was killed|dead process|one died|that died|told to end|does not listen to TERM|goes away|when it is lost",
    "has vanished|loses a byte|can be put back"
  ].join("|")
)
const slowFaults = passedIn(slow).length
const usualFaults =
  passedIn(usual).filter(({ file, fullName }) =>
    !file.replaceAll("\\", "/").includes("/test/sandbox/") && faultWords.test(fullName)
  ).length
const ran = passedIn(usual).flatMap(({ meta }) => meta?.ran === undefined ? [] : [meta.ran])

const lines = [
  {
    what: "faults",
    count: slowFaults + usualFaults,
    how:
      `tests passed: ${slowFaults} in test/faults, and ${usualFaults} elsewhere whose name says that a connection, a ` +
      "process, a disk, an answer or a caller fails"
  },
  ...[["bad inputs", "requests with hostile text, all fields of all endpoints"], ["fuzz requests", "from the contract"]]
    .map(([what, how]) => {
      const mine = ran.filter((each) => each.what === what)
      const by = mine.flatMap((each) => each.by ?? [])
      return { what, count: mine.reduce((sum, each) => sum + each.count, 0), how: [how, ...by].join(", ") }
    })
]
for (const { count, how, what } of lines) say(`${what}: ${count} ${how}`)

const sum = (field) => usual[field] + slow[field]
const passed = sum("numPassedTests")
const failed = sum("numFailedTests")
const missing = [...lines, { what: "faults in test/faults", count: slowFaults }].filter(({ count }) => count === 0)
for (const { what } of missing) say(`not good: no ${what} ran`)
if (Number(status) !== 0) say(`not good: exit code ${status}`)
const good = Number(status) === 0 && passed > 0 && failed === 0 && missing.length === 0 && usual.success && slow.success
say(`tests: ${passed} passed, ${failed} failed, ${sum("numPendingTests")} skipped`)
process.exitCode = good ? 0 : 1
