// A reporter of vitest that appends to the file BERTH_CI_REPORT, in the form of report.ts.
import type { SerializedError } from "@vitest/utils"
import { appendFileSync } from "node:fs"
import { relative } from "node:path"
import type { Reporter, TestCase, TestModule } from "vitest/node"
import type { ReportLine, TestResult } from "./report.ts"

const report = process.env["BERTH_CI_REPORT"] ?? ""
const write = (line: ReportLine) => appendFileSync(report, `${JSON.stringify(line)}\n`)

const pathOf = (file: string) => relative(process.cwd(), file).replaceAll("\\", "/")
const describe = (error: SerializedError | undefined) =>
  `${error?.name ?? "Error"}: ${error?.message ?? ""}`.split("\n")[0]?.slice(0, 300) ?? ""

const resultOf = (test: TestCase): TestResult => {
  const { errors, state } = test.result()
  const counted = test.meta().ran
  return {
    name: test.fullName.replaceAll(" > ", " "),
    // A test that never ran, since its file ended before, did not pass.
    state: state === "pending" ? "skipped" : state,
    ...state === "failed" ? { reason: describe(errors[0]) } : {},
    ...counted === undefined ? {} : { counted }
  }
}

const resultOfModule = (module: TestModule): ReportLine => {
  const errors = [...module.errors(), ...[...module.children.allSuites()].flatMap((suite) => suite.errors())]
  const { collectDuration, duration, setupDuration } = module.diagnostic()
  return {
    result: {
      file: pathOf(module.moduleId),
      project: module.project.name,
      seconds: (duration + collectDuration + setupDuration) / 1000,
      tests: [...module.children.allTests()].map(resultOf),
      ...errors.length === 0 ? {} : { problem: describe(errors[0]) }
    }
  }
}

export default class CiReporter implements Reporter {
  private readonly told = new Set<TestModule>()

  onTestModuleStart({ moduleId, project }: TestModule) {
    write({ begun: pathOf(moduleId), project: project.name })
  }

  onTestModuleEnd(module: TestModule) {
    this.told.add(module)
    write(resultOfModule(module))
  }

  onTestRunEnd(modules: ReadonlyArray<TestModule>, errors: ReadonlyArray<SerializedError>) {
    // A file that could not be loaded neither begins nor ends. One without a verdict died: it has begun only.
    for (const module of modules) {
      if (!this.told.has(module) && module.state() === "failed") write(resultOfModule(module))
    }
    for (const error of errors) {
      const file: unknown = error["VITEST_TEST_PATH"]
      write({ stray: { ...typeof file === "string" ? { file: pathOf(file) } : {}, reason: describe(error) } })
    }
    write({ ended: true })
  }
}
