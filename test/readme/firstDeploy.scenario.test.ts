import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { execFileSync } from "node:child_process"
import { generateKeyPairSync } from "node:crypto"
import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import ssh2 from "ssh2"
import { makeImageArchive } from "../../src/sandbox/projects.ts"
import { makeSshServer } from "../../src/sandbox/sshServer.ts"
import { makeStandIns } from "../../src/sandbox/world.ts"
import { formatUserAtMachine } from "../../src/services/local/user.ts"
import { patience } from "../fixtures/patience.ts"
import { runCli } from "../fixtures/programs/cli.ts"
import { plant, temporaryDirectory } from "../layers/temporary.ts"

const page = "docs/first-deploy.md"
const text = readFileSync(page, "utf8")
const address = "deployer@main.example.com"
/** Transcripts of the page: commands with their output. */
const transcript = /(?<=^```console\n)[\s\S]*?(?=^```)/gm

/** Key pair of the reader, as PEM and as a line of `authorized_keys`. */
const makeKeys = () => {
  const { privateKey } = generateKeyPairSync("ec", {
    namedCurve: "P-256",
    privateKeyEncoding: { format: "pem", type: "sec1" },
    publicKeyEncoding: { format: "pem", type: "spki" }
  })
  const key = ssh2.utils.parseKey(privateKey)
  if (key instanceof Error) throw key
  return { privateKey, authorized: `${key.type} ${key.getPublicSSH().toString("base64")}` }
}

/** Stands before the stand-in: missing until Docker is installed, and pulls from a directory. */
const dockerWithRegistry = (root: string, bin: string) =>
  `#!/bin/sh
[ -e '${root}/has-docker' ] || { echo "sh: 1: docker: not found" >&2; exit 127; }
[ "$1" != pull ] || set -- load -i "${root}/registry/$2.tar"
exec '${bin}/docker' "$@"
`

/** A server that has SSH and no Docker, and the machine of somebody who has never used Berth. */
const stage = Effect.gen(function*() {
  const root = yield* temporaryDirectory
  const keys = makeKeys()
  const [, compose = ""] = /^```yaml\n(services:[\s\S]*?)^```/m.exec(text) ?? []
  const archives = ["ghcr.io/ann/guestbook:1.4", "ghcr.io/ann/guestbook:1.5", "postgres:16"].map((name) =>
    [`registry/${name}.tar`, makeImageArchive({ name, layers: [{ "etc/image": name }] })] as const
  )
  const standIns = yield* makeStandIns({ sudoPassword: Redacted.make("unused") })
  yield* plant(root, {
    ...Object.fromEntries(archives),
    "bin/docker": dockerWithRegistry(root, standIns.bin),
    "reader/.ssh/id_ed25519": keys.privateKey,
    "reader/projects/guestbook/compose.yml": compose,
    "reader/projects/guestbook/.env": "GREETING=Hello\n",
    "reader/projects/guestbook/db.env": "POSTGRES_PASSWORD=correct-horse\n",
    "reader/projects/guestbook/site.conf": "title = Guestbook\n",
    server: { directory: true }
  })
  chmodSync(join(root, "bin/docker"), 0o755)
  chmodSync(join(root, "reader/.ssh/id_ed25519"), 0o600)
  const server = yield* makeSshServer({
    home: join(root, "server"),
    username: "deployer",
    password: Redacted.make("unused"),
    methods: ["publickey"],
    authorizedKeys: [keys.authorized],
    path: [join(root, "bin"), standIns.bin],
    env: standIns.env
  })
  const logs = join(standIns.env.BERTH_SANDBOX_STATE, "docker/logs")
  return { root, home: join(root, "reader"), server, logs }
})

type Stage = Effect.Effect.Success<typeof stage>

/** Gives the containers the log of real programs, the database's first. */
const writeLogs = (directory: string) => {
  for (const name of readdirSync(directory)) {
    const file = join(directory, name)
    const [second, ...lines] = readFileSync(file, "utf8").includes("-web-")
      ? [2, "guestbook 1.4", "listening on 0.0.0.0:8080"]
      : [1, "PostgreSQL init process complete", "database system is ready to accept connections"]
    writeFileSync(file, lines.map((line, at) => `2026-03-02T09:14:0${second}.00000000${at}Z ${line}\n`).join(""))
  }
}

/** This process with the home of the reader, until the scope closes. */
const inHome = (home: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const before = { cwd: process.cwd(), home: process.env["HOME"] }
      process.env["HOME"] = home
      process.chdir(home)
      return before
    }),
    (before) =>
      Effect.sync(() => {
        process.chdir(before.cwd)
        if (before.home === undefined) delete process.env["HOME"]
        else process.env["HOME"] = before.home
      })
  )

/** Executes a command of the page on a terminal, as its reader does, who answers yes. */
const read = ({ home, logs, root, server }: Stage, command: string): Effect.Effect<string> =>
  Effect.gen(function*() {
    const [program, ...words] = command.split(" ").map((word) => word.replace(/^~(?=\/)/, home))
    switch (program) {
      case "cd":
        process.chdir(words[0] ?? home)
        return ""
      case "ssh":
        writeFileSync(join(root, "has-docker"), "")
        return ""
      case "ssh-keygen":
        return `256 ${server.fingerprint} root@main (ED25519)`
      case "berth": {
        if (words[0] === "logs") writeLogs(logs)
        const args = words.map((word) =>
          word.replace(address, `deployer@${server.host}:${server.port}`).replace("SHA256:…", server.fingerprint)
        )
        const printed: Array<string> = []
        yield* runCli({ settingsFile: join(home, ".config/berth/berth.yaml") }, args, {
          answers: [true],
          columns: 110,
          heard: (stream, part) =>
            Effect.sync(() => {
              if (stream !== "shown") printed.push(part.endsWith("?") ? `${part} [y/N] y` : part)
            })
        })
        return printed.join("\n")
      }
      default:
        return execFileSync("sh", ["-c", command], { encoding: "utf8" })
    }
  })

const user = formatUserAtMachine()
const reader = "you@laptop"

/** Replaces what differs from run to run and from machine to machine. */
const uniform = (output: string, { home, server }: Stage) => {
  const steady = output
    .replaceAll(home, "~")
    .replaceAll(`${server.host}:${server.port}`, "main.example.com")
    .replaceAll(`http://${server.host}:`, "http://main.example.com:")
    .replaceAll(`${server.host} shows`, "main.example.com shows")
    .replaceAll(/SHA256:[\w+/]{43}/g, "SHA256:…")
    .replaceAll("ecdsa-sha2-nistp256 SHA256", "ssh-ed25519 SHA256")
    .replaceAll("(ecdsa-sha2-nistp256)", "(ssh-ed25519)")
    .replaceAll(/\b\d{13}\b/g, "1772442845000")
    .replaceAll(/[\d,]+ MiB of disk/g, "38,912 MiB of disk")
    .replaceAll("BY".padEnd(user.length), "BY".padEnd(reader.length))
    .replaceAll(user, reader)
    // Steps that take longer than a second say so.
    .replaceAll(/ \([\d.]+ m?s\)$/gm, "")
    // Docker's own lines have no fixed order among the steps.
    .replaceAll(/^ {2,3}(?:Container|Loaded|Status|\S+: Pulling) .*\n/gm, "")
  // Some of them have milliseconds, and as texts would stand before the second that they are in.
  const times = [...new Set(steady.match(/\d{4}-\d\d-\d\dT[\d:.]+Z/g))]
    .toSorted((one, other) => Date.parse(one) - Date.parse(other))
  return times.reduce((all, time, at) => all.replaceAll(time, `2026-03-02T09:${14 + 3 * at}:05Z`), steady)
}

describe.skipIf(process.platform === "win32")("the page of the first deploy", () => {
  it.scopedLive(
    "shows the output of each of its commands; BERTH_WRITE_PAGES=1 writes it anew",
    () =>
      Effect.gen(function*() {
        const at = yield* stage
        const file = join(process.cwd(), page)
        yield* inHome(at.home)
        const blocks: Array<string> = []
        for (const [block] of text.matchAll(transcript)) {
          let now = ""
          for (const [line, command = ""] of block.matchAll(/^\$ (.*)$/gm)) {
            const output = (yield* read(at, command)).trimEnd()
            now += `${line}\n${output === "" ? "" : `${output}\n`}`
          }
          blocks.push(now)
        }
        let next = 0
        const now = uniform(text.replaceAll(transcript, () => blocks[next++] ?? ""), at)
        if (process.env["BERTH_WRITE_PAGES"] === "1") writeFileSync(file, now)
        else expect(text).toBe(now)
      }).pipe(Effect.provide(NodeContext.layer)),
    120_000 * patience
  )
})
