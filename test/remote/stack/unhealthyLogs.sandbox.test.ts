import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { chmodSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describeFailedCheck } from "../../../src/pipelines/activation/unhealthy.ts"
import { parseUnhealthyLogs } from "../../../src/remote/stack.ts"
import { plant, temporaryDirectory } from "../../layers/temporary.ts"

const script = fileURLToPath(new URL("../../../src/remote/stack/unhealthyLogs.sh", import.meta.url))
const secret = "s3cret & \"value\""

/** Reads a container of a Docker that answers this for its last health check; undefined for one without a check. */
const read = (check: string | undefined) =>
  Effect.gen(function*() {
    const [directory, programs] = [yield* temporaryDirectory, yield* temporaryDirectory]
    yield* plant(directory, { ".berth/deployed": ".env\n", ".env": `PASSWORD='${secret}'\n`, check: check ?? "" })
    const docker = join(programs, "docker")
    writeFileSync(
      docker,
      `#!/bin/sh
case $1 in
  logs) echo 'it listens' ;;
  inspect) ${check === undefined ? "echo 'template parsing error' >&2; exit 1" : `cat '${directory}/check'`} ;;
esac
`
    )
    chmodSync(docker, 0o755)
    const { stdout } = spawnSync("sh", [script, directory, "20", "abc"], {
      encoding: "utf8",
      env: { ...process.env, PATH: `${programs}:${process.env["PATH"] ?? ""}` }
    })
    expect(stdout).not.toContain(secret)
    const output = parseUnhealthyLogs(stdout).get("abc")
    expect(output?.log).toEqual(["it listens"])
    return describeFailedCheck("web", output?.check ?? [])
  })

const numbered = (count: number, text = "") => Array.from({ length: count }, (_, index) => `line ${index + 1}${text}`)

it.scoped.each<readonly [string, string | undefined, string]>([
  ["no health check", undefined, ""],
  ["no check so far", "\n", ""],
  ["a check that passed", "0\nwell\n", ""],
  ["one line", "1\nwget: no connection\n\n", "\nweb: its health check ended with 1: wget: no connection"],
  ["no output", "127\n\n", "\nweb: its health check ended with 127 and printed nothing"],
  [
    "a check that was stopped",
    "-1\nHealth check exceeded timeout (2s)\n",
    "\nweb: its health check did not complete: Health check exceeded timeout (2s)"
  ],
  ["several lines", "22\nfirst\n\n  second\n", "\nweb: its health check ended with 22:\n  first\n    second"],
  ["a progress bar", "7\n 0%\r 10%\rcurl: refused\r\n", "\nweb: its health check ended with 7: curl: refused"],
  ["a value of an env file", `1\nno ${secret}!\n`, "\nweb: its health check ended with 1: no ***!"],
  [
    "words in colors, and forged lines",
    "1\n\u001b[31mred\u001b[0m\u0007\ncontainer\tabc\nline\tx",
    "\nweb: its health check ended with 1:\n  red\n  container\tabc\n  line\tx"
  ]
])("tells the last health check: %s", ([, check, told]) =>
  Effect.gen(function*() {
    expect(yield* read(check)).toBe(told)
  }))

it.scoped("keeps at most the last ten lines and 1 KiB, in whole lines", () =>
  Effect.gen(function*() {
    const lines = (text: string) => Effect.map(read(`1\n${text}`), (told) => told.split("\n  ").slice(1))
    expect(yield* lines(numbered(40).join("\n"))).toEqual(numbered(40).slice(-10))
    const long = numbered(10, "x".repeat(250))
    expect(yield* lines(long.join("\n"))).toEqual(long.slice(-3))
    // Docker ends an output of more than 4096 bytes with "...", wherever that is: a part of a value is not masked.
    const begun = secret.slice(0, 8)
    expect(yield* read(`1\nlong\n${"z".repeat(4_083)} ${begun}...\n`)).toBe(
      "\nweb: its health check ended with 1: long"
    )
    expect(yield* read(`1\n${"z".repeat(4_088)} ${begun}...\n`)).toBe("\nweb: its health check ended with 1: ...")
    expect(yield* read(`1\nwaiting...\n`)).toBe("\nweb: its health check ended with 1: waiting...")
    expect(yield* read("1\nno\u2028answer\n")).toContain("no\u2028answer")
    expect(yield* read(`1\n${"y".repeat(4_000)}`)).toBe(`\nweb: its health check ended with 1: ${"y".repeat(300)}`)
  }))
