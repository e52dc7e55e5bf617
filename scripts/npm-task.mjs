// Runs one of the package's tasks after making sure that what it needs is there: the node packages, and for the
// service a fresh build. Each task is thereby the only command that a fresh clone needs.
import { spawn, spawnSync } from "node:child_process"
import { accessSync, constants, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { userInfo } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
process.chdir(root)
const bin = (name) => join("node_modules", ...name.split("/"))
const stop = (code) => process.exit(code ?? 1)

/** Runs a node script in the foreground; on failure the whole task ends with its code. */
const node = (args, { quiet = false } = {}) => {
  const { status } = spawnSync(process.execPath, args, { stdio: quiet ? ["ignore", "ignore", "inherit"] : "inherit" })
  if (status !== 0) stop(status)
}

const isWritable = (path) => {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Ends the task with one sentence, where npm, tsc and vitest would fail with one for each file. */
const requireWritable = (path, intent) => {
  const nearest = existsSync(path) ? path : "."
  if (isWritable(nearest)) return
  console.error(
    `Cannot ${intent}: ${userInfo().username} may not write to ${join(root, nearest)}. Have the owner of this clone ` +
      "run npm start once, after which every user can start it, or work in a clone of your own. Nothing was changed"
  )
  stop(1)
}

const modified = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0)

const installPackages = () => {
  if (modified("node_modules/.package-lock.json") >= modified("package-lock.json")) return
  requireWritable("node_modules", "install the node packages")
  console.error("Installing the node packages ...")
  const npm = process.env.npm_execpath
  if (npm === undefined) {
    console.error("Run this through npm: npm start, npm test or npm run sandbox")
    stop(1)
  }
  node([npm, "ci", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"], { quiet: true })
}

const newest = (path) => {
  if (!existsSync(path)) return 0
  const status = statSync(path)
  if (!status.isDirectory()) return status.mtimeMs
  return Math.max(status.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))))
}

const files = ["tsconfig.json", "tsconfig.build.json", "package-lock.json"]
/** Tells one state of the sources from another, so that a checkout of another commit with older dates counts as stale. */
const sources = () => String(Math.max(...["src", "scripts", ...files].map(newest)))

/** Makes what the stamp stands for, unless it was made of these sources. */
const makeOnce = (stamp, make) => {
  const before = sources()
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === before) return
  requireWritable("dist", "build")
  make()
  writeFileSync(stamp, before)
}

/** The service and its page: all that a start needs, in seconds. */
const pack = () =>
  makeOnce("dist/.packed", () => {
    console.error("Building ...")
    node(["scripts/bundle.mjs"])
    node(["scripts/page.mjs"])
  })

/** All modules with their types checked, the service, its page and the library. */
const build = () => {
  pack()
  makeOnce("dist/.built", () => {
    console.error("Checking the types and building the modules ...")
    node([bin("typescript/bin/tsc"), "-p", "tsconfig.build.json"])
    node(["scripts/library.mjs"])
  })
}

/** Hands over to a program that keeps running, and to the signals meant for it; says a last word when it has ended. */
const become = (args, lastly = () => {}) => {
  const child = spawn(process.execPath, args, { stdio: "inherit" })
  // The terminal sends Ctrl-C to both; SIGTERM is meant for the service.
  process.on("SIGINT", () => {})
  process.on("SIGTERM", () => child.kill("SIGTERM"))
  child.on("exit", (code, signal) => {
    lastly()
    stop(signal === null ? code : 1)
  })
}

/** Runs the tests of these projects, or of all when there are none. */
const vitest = (projects, lastly) => {
  requireWritable("node_modules", "run the tests, which are compiled into it")
  become([bin("vitest/vitest.mjs"), "run", ...projects.flatMap((name) => ["--project", name]), ...rest], lastly)
}

// By itself Node lets the heap of a small service grow to three times what it needs, and glibc keeps freed buffers in an
// arena for each thread. After 50 deploys of 200 MB it takes 132 MB and not 161, for 2 % more processor time.
const becomeSmall = (args) => {
  process.env.MALLOC_ARENA_MAX ??= "1"
  become(["--max-semi-space-size=2", "--heap-growing-percent=40", ...args])
}

const [task, ...rest] = process.argv.slice(2)
const tasks = {
  start: () => {
    pack()
    becomeSmall(["dist/service/berth.js", ...rest])
  },
  sandbox: () => {
    build()
    become(["--enable-source-maps", "dist/sandbox/main.js", ...rest])
  },
  bench: () => {
    build()
    becomeSmall(["--import", "tsx", "bench/main.ts", ...rest])
  },
  build,
  test: () => {
    // A file that is named runs whatever project it belongs to.
    if (rest.some((word) => !word.startsWith("-") && /[./]/.test(word))) return vitest([])
    const slow = process.env.BERTH_SLOW_TESTS === "1" ? "" : "what takes seconds each (BERTH_SLOW_TESTS=1 npm test), "
    const reminder =
      `Not run: ${slow}the tests on a real sshd, sudo and Docker (npm run test:real), those of the web page ` +
      "(npm run test:page), and what breaks things (npm run test:faults)."
    process.env.BERTH_TEST_PROJECTS = "near"
    vitest(["near"], () => console.log(reminder))
  },
  "test:real": () => vitest(["real", "engine26", "engine28"]),
  "test:faults": () => {
    build()
    // Two files at a time: what they break, fill and kill is their own, and mostly they wait.
    rest.push("--minWorkers=2", "--maxWorkers=2")
    vitest(["faults", "soaks", "measured"])
  },
  "test:page": () => {
    build()
    vitest(["page"])
  }
}

if (!Object.hasOwn(tasks, task)) {
  console.error(`Unknown task ${task}: use one of ${Object.keys(tasks).join(", ")}`)
  stop(2)
}
installPackages()
tasks[task]()
