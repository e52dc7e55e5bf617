import { availableParallelism } from "node:os"
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config"
import { type EngineName, environmentOf, storeSuites } from "./test/fixtures/engines/engine.ts"
import { patience } from "./test/fixtures/patience.ts"

// What a test needs stands in its file's name; test/projects.test.ts holds it to that.
const sandbox = "test/**/*.sandbox.test.ts" // a server, a shell or a service that the test starts by itself
// Whole deploys, shells and programs, of seconds each. `npm test` leaves them out; BERTH_SLOW_TESTS=1 takes them in, and
// so does naming a file.
const scenario = "test/**/*.scenario.test.ts"
const real = "test/**/*.real.test.ts" // OpenSSH's sshd, sudo or Docker of this machine
const worlds = "test/**/*.worlds.test.ts" // the same rules in the sandbox and on the real thing
const faults = "test/faults/**"
const inFaults = (name: string) => `test/faults/${name}.test.ts`
// Of those, what measures how long an answer takes, or has to meet a moment.
const measured = [
  "hostileFiles",
  "killedBackups",
  "killedDeploys",
  "runStore",
  "soaks/socketsSoak",
  "teamChurn",
  "soaks/watchersSoak",
  "wrongTokens"
].map(inFaults)
// What measures the memory that is left: in processes where no file of another project ran.
const soaks = ["soak", "builtSoak", "connectionsSoak", "bodiesSoak", "hostileSoak"].map((name) =>
  inFaults(`soaks/${name}`)
)
const page = "test/**/*.page.test.ts" // a browser: Chromium of this machine

// What `npm test` runs: both kinds that need nothing but this package as one project, since each project reads and
// translates for itself what its files import.
const near = process.env["BERTH_TEST_PROJECTS"] === "near"

const nearProject: TestProjectInlineConfiguration = {
  extends: true,
  test: {
    name: "near",
    include: ["test/**/*.test.ts"],
    exclude: [real, faults, page, ...process.env["BERTH_SLOW_TESTS"] === "1" ? [] : [scenario]],
    provide: { world: "sandbox" },
    testTimeout: 60_000 * patience,
    hookTimeout: 60_000 * patience
  }
}

const engineProject = (name: EngineName): TestProjectInlineConfiguration => ({
  extends: true,
  test: {
    name,
    include: [...storeSuites[name]],
    env: environmentOf(name),
    globalSetup: "test/fixtures/engines/setup.ts",
    provide: { world: "sshd" },
    testTimeout: 60_000 * patience,
    hookTimeout: 120_000 * patience
  }
})

const workers = availableParallelism() + 1

export default defineConfig({
  test: {
    // The files of a project share their processes, and with them what they import.
    pool: "forks",
    poolOptions: { forks: { isolate: false } },
    setupFiles: ["test/setup.ts"],
    // One more than there are processors, because many tests wait for something. Fewer at least than at most, and
    // vitest 3.2 loses tests between two projects ("Terminating worker thread").
    minWorkers: workers,
    maxWorkers: workers,
    projects: near ? [nearProject] : [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: [sandbox, scenario, real, worlds, faults, page],
          // Far more than any takes: it is for what hangs, and a machine that does other work too is slow.
          testTimeout: 30_000
        }
      },
      {
        extends: true,
        test: {
          name: "sandbox",
          include: [sandbox, worlds],
          exclude: [faults],
          provide: { world: "sandbox" },
          testTimeout: 60_000 * patience,
          hookTimeout: 60_000 * patience
        }
      },
      {
        extends: true,
        test: {
          name: "scenario",
          include: [scenario],
          exclude: [faults],
          provide: { world: "sandbox" },
          testTimeout: 60_000 * patience,
          hookTimeout: 60_000 * patience
        }
      },
      {
        extends: true,
        test: {
          name: "real",
          include: [real, worlds],
          exclude: [faults],
          globalSetup: "test/fixtures/engines/setup.ts",
          provide: { world: "sshd" },
          testTimeout: 60_000 * patience,
          hookTimeout: 120_000 * patience
        }
      },
      engineProject("engine26"),
      engineProject("engine28"),
      {
        extends: true,
        test: {
          name: "page",
          include: [page],
          // One browser at a time: they measure what it shows, and share what is built.
          poolOptions: { forks: { singleFork: true } },
          // A slow machine takes its time, and what hangs ends in any case.
          expect: { poll: { timeout: 100_000 } },
          testTimeout: 300_000,
          hookTimeout: 300_000
        }
      },
      {
        extends: true,
        test: {
          name: "faults",
          include: [`${faults}/*.test.ts`],
          exclude: [...measured, ...soaks],
          // Of the tests of one file that run at once, most wait for somebody who does not answer.
          maxConcurrency: 8,
          testTimeout: 120_000 * patience,
          hookTimeout: 60_000 * patience
        }
      },
      {
        extends: true,
        test: {
          name: "soaks",
          include: soaks,
          testTimeout: 120_000 * patience,
          hookTimeout: 60_000 * patience
        }
      },
      {
        extends: true,
        test: {
          name: "measured",
          include: measured,
          // One file at a time, and after all of the other projects.
          poolOptions: { forks: { singleFork: true } },
          testTimeout: 120_000 * patience,
          hookTimeout: 60_000 * patience
        }
      }
    ]
  }
})
