// The pieces of `.ci/run`: the gate, which proves each promise once, and the further suites, each of at most three
// minutes on a quiet machine.
import { existsSync, readFileSync } from "node:fs"
import type { Piece } from "./judge.ts"

const check = (name: string): Piece => ({
  name,
  part: "gate",
  command: ["npm", "run", "--silent", name],
  minutes: 10,
  isTests: false
})

const vitest = (projects: ReadonlyArray<string>, files: ReadonlyArray<string>, workers?: number) => [
  "npx",
  "vitest",
  "run",
  ...projects.flatMap((project) => ["--project", project]),
  ...workers === undefined ? [] : [`--minWorkers=${workers}`, `--maxWorkers=${workers}`],
  ...files
]

const gateTests = (name: string, command: ReadonlyArray<string>): Piece => ({
  name,
  part: "gate",
  command,
  minutes: 20,
  isTests: true
})

const typecheck = (project: string): Piece => ({
  ...check(`typecheck: ${project}`),
  command: ["npx", "tsc", "--noEmit", "-p", project]
})

/** Always run and whole: the checks, the longest first and some at a time, then the tests one after the other. */
export const gate: ReadonlyArray<Piece> = [
  ...["tsconfig.json", "src/web/tsconfig.json", "test/web/tsconfig.json"].map(typecheck),
  ...["lint", "lint:deps", "format:check", "lint:openapi", "conformance", "shellcheck"].map(check),
  gateTests("test", ["npm", "test", "--"]),
  gateTests(
    "real",
    vitest(["real"], [
      "test/cli/exec/exec.real.test.ts",
      "test/cli/firstDeploy.real.test.ts",
      "test/http/team.real.test.ts",
      "test/mcp/logs.real.test.ts",
      "test/pipelines/archive/transfer.real.test.ts",
      "test/pipelines/deploy/bridged.real.test.ts",
      "test/pipelines/releases/rollback.real.test.ts",
      "test/pipelines/routes/routes.real.test.ts",
      "test/services/ssh/logIn.real.test.ts"
    ])
  ),
  gateTests(
    "page",
    vitest(["page", "faults"], [
      "test/faults/built.test.ts",
      "test/web/failure.page.test.ts",
      "test/web/project.page.test.ts",
      "test/web/size.page.test.ts",
      "test/web/start.page.test.ts"
    ])
  )
]

interface Further {
  readonly name: string
  readonly projects: ReadonlyArray<string>
  /** Parts of paths; all files of the projects when absent. */
  readonly files?: ReadonlyArray<string>
  readonly workers?: number
  readonly env?: Readonly<Record<string, string>>
}

const further = ({ env, files = [], name, projects, workers }: Further): Piece => ({
  name,
  part: "further",
  command: vitest(projects, files, workers),
  env: { BERTH_SLOW_TESTS: "1", ...env },
  // Three times what it takes on a quiet machine.
  minutes: 9,
  isTests: true
})

const ofScenarios = (name: string, ...files: ReadonlyArray<string>) =>
  further({ name: `scenarios: ${name}`, projects: ["scenario"], files })
// Of long tables `npm test` runs a part.
const ofEveryCase = (name: string, ...files: ReadonlyArray<string>) =>
  further({
    name: `every case: ${name}`,
    projects: ["unit", "sandbox", "scenario"],
    files,
    env: { BERTH_THOROUGH: "1" }
  })
const ofReal = (name: string, ...files: ReadonlyArray<string>) =>
  further({ name: `real: ${name}`, projects: ["real"], files })
const ofPage = (name: string, ...files: ReadonlyArray<string>) =>
  further({ name: `page: ${name}`, projects: ["page"], files: files.map((file) => `test/web/${file}.page.test.ts`) })
// Two files at a time: what they break, fill and kill is their own, and mostly they wait.
const ofFaults = (name: string, ...files: ReadonlyArray<string>) =>
  further({
    name: `faults: ${name}`,
    projects: ["faults", "soaks", "measured"],
    files: files.map((file) => `test/faults/${file}.test.ts`),
    workers: 2
  })

/** The first of the further suites, whatever the commit: the commands of the README on a machine without a home. */
export const fromNothing: Piece = ofFaults("from nothing", "fromNothing")

/** Begun while there is time, at another one for each commit. */
export const furtherSuites: ReadonlyArray<Piece> = [
  ofScenarios("command line", "test/cli/"),
  ofScenarios(
    "scripts",
    "test/client/",
    "test/examples/",
    "test/readme/",
    "test/sandbox/",
    "test/scripts/",
    "test/services/notify/",
    "test/services/ssh/"
  ),
  ofScenarios(
    "hostile input",
    ...["brokenFiles", "canaries", "encodings", "inheritedNames", "injection", "leaks", "serverNames"]
      .map((name) => `test/http/hostile/${name}`),
    ...["environments", "targets", "wire/"].map((name) => `test/http/${name}`),
    "test/mcp/",
    "test/remote/",
    "test/main.scenario"
  ),
  ofEveryCase(
    "long tables",
    "test/http/hostile/references",
    "test/mcp/budget",
    "test/services/settings/listEdits",
    "test/services/settings/rights/settingRights",
    ...[
      "archive/hostileArchives",
      "drift/oneTruth",
      "projects/hostileCompose",
      "pull.test",
      "routes/editRoutes.fuzz",
      "routes/ownRoute",
      "upsert/planUpsert.property",
      "upsert/upsert/planUpsert"
    ].map((name) => `test/pipelines/${name}`)
  ),
  ofEveryCase(
    "requests",
    ...["hostile/fuzz", "jumpRoutes", "projectsRoot", "session", "wire/requests"].map((name) => `test/http/${name}`),
    "test/services/settings/savingServers",
    "test/services/sshClient/clientConfig/sshConfig",
    "test/services/state/"
  ),
  ofEveryCase(
    "vendors and agents",
    "test/mcp/http",
    "test/pipelines/drift/vendors",
    "test/pipelines/upsert/planUpsert.vendors",
    "test/pipelines/upsert/vendors",
    "test/pipelines/webhooks/"
  ),
  ofEveryCase("changes of servers", "test/services/settings/rights/serverSequences"),
  ofScenarios("activation", "test/pipelines/activation/"),
  ofScenarios(
    "deploys",
    ...["archive/", "backups/", "build.", "compare.", "deploy/", "drift/", "releases/", "stacks/", "targets/"]
      .map((folder) => `test/pipelines/${folder}`)
  ),
  further({
    name: "slow cases of fast files",
    projects: ["sandbox"],
    files: [
      "test/cli/serving",
      "test/readme/commands",
      "test/scripts/importDirection",
      "test/services/local/LocalProcesses",
      "test/services/locks/Locks"
    ]
  }),
  ofReal(
    "ssh",
    ...["ssh/Connections", "ssh/S", "ssh/jump", "ssh/slow", "state/"].map((name) => `test/services/${name}`)
  ),
  ofReal(
    "deploys",
    ...["deploy/deploy", "deploy/plan", "deploy/send", "pull/", "compare/", "projects/files/environments", "secrets/"]
      .map((name) => `test/pipelines/${name}`),
    "test/remote/"
  ),
  ofReal(
    "images",
    ...["archive/dockerLoad", "archive/transferForms", "build/", "init/"].map((name) => `test/pipelines/${name}`),
    "test/cli/secondDay"
  ),
  ofReal(
    "compose projects",
    ...["adoption/", "deploy/composeProjects", "deploy/corpus", "deploy/serverBuilds", "projects/compose/"].map((
      name
    ) => `test/pipelines/${name}`)
  ),
  ofReal("backups", "test/pipelines/backups/backups", "test/pipelines/backups/deployBackup"),
  ofReal("restores", ...["copies", "fullDisk", "items", "restore"].map((name) => `test/pipelines/backups/${name}`)),
  ofReal(
    "stacks",
    ...["activation/activationOutput", "disks/", "health/", "sampling", "servers/", "stacks/", "targets/"]
      .map((name) => `test/pipelines/${name}`),
    "test/readme/"
  ),
  ofReal("bridges", "test/pipelines/bridge/"),
  ofReal(
    "ways back",
    ...["activation/health/", "deploy/bridgedBack", "hooks/", "releases/rollbackBridged", "releases/rollbackKilled"]
      .map((name) => `test/pipelines/${name}`)
  ),
  ofReal("container", "test/packaging/container"),
  ofReal("action", "test/packaging/action"),
  further({ name: "real: Docker 26", projects: ["engine26"] }),
  further({ name: "real: Docker 28", projects: ["engine28"] }),
  ofFaults(
    "callers",
    "connection",
    "hostileFiles",
    "hostileServer",
    "longestAnswers",
    "server",
    "slowCallers",
    "wrongTokens"
  ),
  ofFaults("runs", "cancel", "killedDeploys", "killedTargets", "runStore", "runs"),
  ofFaults("installation", "encodings", "keptFiles", "library", "package"),
  ofFaults("processes", "fullDisk", "killedBackups", "process", "team", "teamChurn"),
  ofFaults("soaks", "soaks/bodiesSoak", "soaks/connectionsSoak", "soaks/soak", "soaks/socketsSoak"),
  ofFaults("long soaks", "soaks/builtSoak", "soaks/watchersSoak"),
  further({
    name: "archives of every shape",
    projects: ["soaks"],
    files: ["test/faults/soaks/hostileSoak.test.ts"],
    env: { BERTH_THOROUGH: "1" }
  }),
  ofPage("screens", "screens"),
  ofPage("lists", "applications", "overview", "projectList", "readmePicture", "servers", "settings"),
  ofPage("work", "data", "environments", "logScreen", "logs", "progress", "refusals", "targets", "usage")
]

/** The pieces in turn, beginning at one that the commit decides: on a slow machine each gets its turn all the same. */
export const inTurnOf = (pieces: ReadonlyArray<Piece>, commit: string): ReadonlyArray<Piece> => {
  const from = pieces.length === 0 ? 0 : (Number.parseInt(commit.slice(0, 8), 16) || 0) % pieces.length
  return [...pieces.slice(from), ...pieces.slice(0, from)]
}

/** Tests that may be skipped, by file: number and reason. No machine can run all of them. */
export const maySkip: ReadonlyMap<string, readonly [count: number, reason: string]> = new Map([
  ["test/services/local/LocalProcesses.sandbox.test.ts", [1, "root may start any file"]],
  ["test/remote/proxy.sandbox.test.ts", [6, "busybox takes no stand-ins for its programs"]],
  ["test/http/guard.sandbox.test.ts", [1, "needs an address beside loopback"]],
  ["test/pipelines/archive/dockerLoad.real.test.ts", [1, "each rule is of one image store"]],
  ["test/pipelines/init/renderDockerIgnore.real.test.ts", [1, "needs BuildKit"]],
  ["test/faults/library.test.ts", [1, "needs the npm registry"]],
  ["test/faults/package.test.ts", [2, "needs the npm registry"]],
  // Its descriptions are not part of this repository.
  ...process.env["BERTH_CONTRACTS"] === undefined
    ? [["test/pipelines/upsert/vendors.sandbox.test.ts", [1, "needs BERTH_CONTRACTS"]] as const]
    : []
])

/** True for a file with cases that BERTH_SLOW_TESTS=1 alone takes in. */
export const hasSlowCases = (file: string): boolean =>
  existsSync(file) && /import \{[^}]*\bslow\b[^}]*\} from .*thorough/.test(readFileSync(file, "utf8"))
