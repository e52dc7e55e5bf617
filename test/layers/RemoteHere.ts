import { Effect, Either, Layer, Stream } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { mkdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { renderCommand } from "../../src/services/ssh/loginShell.ts"
import { type RemoteCommand, type RemoteExit, Ssh } from "../../src/services/ssh/Ssh.ts"
import { inPart } from "../fixtures/thorough.ts"

/** A POSIX shell with its tools, and where both are found. */
export interface Shell {
  readonly name: string
  readonly path: string
}

const systemPath = process.env["PATH"] ?? "/usr/bin:/bin"

// Every applet of busybox under its own name, `sh` too: nothing of the system's own tools is in reach. The links stay
// for the next run: several processes of tests use them at a time.
const busybox = (): ReadonlyArray<Shell> => {
  const found = spawnSync("sh", ["-c", "command -v busybox"], { encoding: "utf8" }).stdout.trim()
  if (found === "") return []
  const path = fileURLToPath(new URL("../../node_modules/.cache/berth-busybox", import.meta.url))
  mkdirSync(path, { recursive: true })
  spawnSync(found, ["--install", "-s", path])
  return [{ name: "busybox", path }]
}

/** The shell of this machine with all of its tools. */
export const systemShell: Shell = { name: "sh", path: systemPath }

const known: ReadonlyArray<Shell> = [systemShell, ...busybox()]

/** The shells of this machine that remote scripts have to run in; in a part of the run the one with the fewest tools. */
export const shells: ReadonlyArray<Shell> = inPart(known, known.slice(-1))

export interface Here {
  readonly shell: Shell
  readonly home: string
  /** A directory whose programs come before all others: stand-ins. */
  readonly programs?: string
  /** Takes down every command that is run. */
  readonly seen?: Array<RemoteCommand>
}

/** Runs a remote command on this machine, exactly as a server's shell would be handed it. */
export const runHere = (command: RemoteCommand, { home, programs, seen, shell }: Here): Effect.Effect<RemoteExit> =>
  Effect.promise(() => {
    seen?.push(command)
    const line = Either.getOrThrow(renderCommand({ ...command, sudo: false }))
    return new Promise<RemoteExit>((resolve, reject) => {
      const path = programs === undefined ? shell.path : `${programs}:${shell.path}`
      const child = spawn("sh", ["-c", line], { cwd: home, env: { HOME: home, PATH: path } })
      const [out, err]: [Array<Buffer>, Array<Buffer>] = [[], []]
      child.stdout.on("data", (chunk: Buffer) => out.push(chunk))
      child.stderr.on("data", (chunk: Buffer) => err.push(chunk))
      child.on("error", reject)
      child.on(
        "close",
        (code) =>
          resolve({ code, stdout: Buffer.concat(out).toString("utf8"), stderr: Buffer.concat(err).toString("utf8") })
      )
      child.stdin.on("error", () => undefined)
      child.stdin.end(command.stdin ?? "")
    })
  })

/** A server that is this machine: its commands run here, under a home of their own. */
export const remoteHere = (here: Here): Layer.Layer<Ssh> =>
  Layer.succeed(
    Ssh,
    Ssh.of({
      exec: (_, command) => runHere(command, here),
      spawn: (_, command) =>
        Effect.map(runHere(command, here), ({ code, stderr, stdout }) => ({
          stdout: Stream.make(new TextEncoder().encode(stdout)),
          stderr: Stream.make(new TextEncoder().encode(stderr)),
          exit: Effect.succeed(code),
          resize: () => Effect.void
        }))
    })
  )
