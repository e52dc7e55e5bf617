// Says what ran, by the reports that the suites left: plain lines, the last of them the sum. Ends with 1 when anything
// failed, was skipped although this machine has what it needs, or did not run at all.
//   summary.mjs REPORTS STATUS SUITE...
import { existsSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"

const [reports, status, ...suites] = process.argv.slice(2)
const say = (line) => process.stdout.write(`${line}\n`)
const problems = Number(status) === 0 ? [] : [`exit code ${status}`]

/** The report of a suite; one that left none counts as a failed test. */
const reportOf = (suite) => {
  try {
    return JSON.parse(readFileSync(join(reports, `${suite}.json`), "utf8"))
  } catch {
    problems.push(`${suite} left no report`)
    return { numPassedTests: 0, numFailedTests: 1, numPendingTests: 0, success: false, testResults: [] }
  }
}

/** Seconds of a suite, and its longest files, since the whole run has a limit. */
const sayWhatTakes = (suite, results) => {
  if (results.length === 0) return
  const seconds = (from, to) => Math.round((to - from) / 1000)
  const all = seconds(
    Math.min(...results.map((each) => each.startTime)),
    Math.max(...results.map((each) => each.endTime))
  )
  const longest = results
    .map(({ endTime, name, startTime }) => [seconds(startTime, endTime), relative(process.cwd(), name)])
    .sort(([one], [other]) => other - one)
    .slice(0, 12)
  say(`took ${all} s: ${longest.map(([took, file]) => `${file} ${took} s`).join(", ")}`)
}

// Tests that may be skipped, by file: number and reason. No machine can run all of them.
const mayBeSkipped = new Map([
  ["test/services/local/LocalProcesses.sandbox.test.ts", [1, "root may start any file"]],
  ["test/remote/proxy.sandbox.test.ts", [6, "busybox takes no stand-ins for its programs"]],
  ["test/http/guard.sandbox.test.ts", [1, "needs an address beside loopback"]],
  ["test/pipelines/archive/dockerLoad.real.test.ts", [1, "each rule is of one image store"]],
  ["test/pipelines/init/renderDockerIgnore.real.test.ts", [1, "needs BuildKit"]],
  ["test/faults/library.test.ts", [1, "needs the npm registry"]],
  ["test/faults/package.test.ts", [2, "needs the npm registry"]],
  // Its descriptions are not part of this repository.
  ...process.env.BERTH_CONTRACTS === undefined
    ? [["test/pipelines/upsert/vendors.sandbox.test.ts", [1, "needs BERTH_CONTRACTS"]]]
    : []
])

for (const file of mayBeSkipped.keys()) {
  if (!existsSync(file)) problems.push(`${file} may skip tests, but does not exist`)
}

/** True for a file whose slow tests this run leaves out, as .ci/run has said. */
const leavesOut = (file) =>
  process.env.BERTH_SLOW_TESTS !== "1" &&
  /import \{[^}]*\bslow\b[^}]*\} from .*thorough/.test(readFileSync(file, "utf8"))

const ran = []
const count = { passed: 0, failed: 0, skipped: 0 }
for (const suite of suites) {
  const report = reportOf(suite)
  count.passed += report.numPassedTests
  count.failed += report.numFailedTests
  count.skipped += report.numPendingTests
  if (!report.success) problems.push(`${suite} failed`)
  if (report.numPassedTests === 0) problems.push(`${suite}: no test passed`)
  say(`${suite}: ${report.numPassedTests} passed`)
  sayWhatTakes(suite, report.testResults)
  for (const { assertionResults, message, name, status } of report.testResults) {
    const file = relative(process.cwd(), name).replaceAll("\\", "/")
    // A file that could not be loaded, or whose hooks failed, has no failed test of its own.
    if (status === "failed" && !assertionResults.some((test) => test.status === "failed")) {
      count.failed++
      say(`failed as a whole: ${file}: ${String(message ?? "").split("\n")[0].slice(0, 300)}`)
    }
    for (const test of assertionResults.filter((test) => test.status === "failed")) {
      const reason = String(test.failureMessages?.[0] ?? "").split("\n")[0].slice(0, 300)
      say(`failed: ${file}: ${test.fullName}: ${reason}`)
    }
    for (const test of assertionResults.filter((test) => test.status === "passed" && test.failureMessages.length > 0)) {
      const reason = String(test.failureMessages[0]).split("\n")[0].slice(0, 300)
      say(`passed on a second try: ${file}: ${test.fullName}: ${reason}`)
    }
    const skipped = assertionResults.filter((test) => test.status === "skipped" || test.status === "pending")
    const [allowed, why] = mayBeSkipped.get(file) ?? [0]
    if (skipped.length > 0) say(`skipped: ${skipped.length} in ${file}${why === undefined ? "" : ` (${why})`}`)
    // The unstable release of Debian is not always there.
    const engine = / \(needs engine28\)/
    const unforced = skipped.filter(({ fullName }) => !engine.test(fullName)).length
    if (unforced > allowed && !leavesOut(file) && process.env.BERTH_REQUIRE_REAL === "1") {
      problems.push(`${unforced} tests of ${file} were skipped`)
    }
    for (const { meta, status: how } of assertionResults) {
      if (how === "passed" && meta?.ran !== undefined) ran.push(meta.ran)
    }
  }
}

// Counts that single tests report themselves; that of bad inputs is a scenario.
for (const what of process.env.BERTH_SLOW_TESTS === "1" ? ["bad inputs", "fuzz requests"] : ["fuzz requests"]) {
  const mine = ran.filter((each) => each.what === what)
  const sum = mine.reduce((all, each) => all + each.count, 0)
  say([`${what}: ${sum}`, ...mine.flatMap((each) => each.by ?? [])].join(", "))
  if (sum === 0) problems.push(`no ${what} ran`)
}

for (const problem of problems) say(`not good: ${problem}`)
say(`tests: ${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`)
process.exitCode = problems.length === 0 && count.passed > 0 && count.failed === 0 ? 0 : 1
