import { describe, expect, it } from "@effect/vitest"
import { Either, FastCheck } from "effect"
import { spawnSync } from "node:child_process"
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { findAnswer, makeMark, quoteShellArgument, renderCommand } from "../../../src/services/ssh/loginShell.ts"
import type { RemoteCommand } from "../../../src/services/ssh/Ssh.ts"

const command = (script: string, fields: Partial<RemoteCommand> = {}): RemoteCommand => ({
  what: "testing",
  script,
  args: [],
  sudo: false,
  ...fields
})

const refusal = (fields: Partial<RemoteCommand>, script = "true") =>
  Either.match(renderCommand(command(script, fields)), {
    onLeft: (refused) => refused.reason,
    onRight: () => "rendered"
  })

describe("renderCommand as text", () => {
  it("has the login shell read words in single quotes alone, without a character that shells read each in its own way", () => {
    const text = FastCheck.string({ unit: "binary", maxLength: 40 }).filter((text) => !/[\0\r\n]/.test(text))
    FastCheck.assert(
      FastCheck.property(text, text, FastCheck.boolean(), FastCheck.boolean(), (script, argument, sudo, marked) => {
        const line = Either.getOrThrow(
          renderCommand(command(script, { args: [argument], sudo }), marked ? makeMark() : undefined)
        )
        expect(line).toMatch(/^exec sh -c '[ -&(-~]+' sh(?: '[ -&(-~]+')+$/)
        expect(line).not.toMatch(/[!\\]/)
      })
    )
  })

  it("says what came before an answer, however it is cut", () => {
    const mark = makeMark()
    const text = mark.join("")
    const whole = Buffer.from(`Welcome to ü\n${text}an answer, ${text}`)
    for (let size = 1; size <= whole.length; size += 1) {
      const start = findAnswer(mark)
      const parts = Array.from(
        { length: Math.ceil(whole.length / size) },
        (_, at) => start.take(whole.subarray(at * size, (at + 1) * size)) ?? Buffer.alloc(0)
      )
      expect(Buffer.concat(parts).toString()).toBe(`an answer, ${text}`)
      expect([start.hasBegun(), start.greeting()]).toEqual([true, "Welcome to ü"])
    }
    const long = findAnswer(mark)
    const parts = [Buffer.alloc(70_000, 97), Buffer.from(text.slice(0, 9)), Buffer.from(`${text.slice(9)}b`)].map(
      long.take
    )
    expect([Buffer.from(parts[2] ?? []).toString(), long.greeting()]).toEqual(["b", "a".repeat(4096)])
    const without = findAnswer(mark)
    expect(without.take(Buffer.from("This account is currently not available.\n"))).toBeUndefined()
    expect([without.hasBegun(), without.greeting()]).toEqual([false, "This account is currently not available."])
  })

  it("quotes an empty argument as one", () => {
    expect(quoteShellArgument("")).toBe("''")
  })

  it("refuses what ends a line or a string", () => {
    for (const bad of ["a\0b", "a\rb", "a\nb"]) {
      expect(refusal({ args: ["fine", bad] })).toContain("must not contain a line break or NUL")
    }
  })

  it("refuses arguments over 4 KiB, counted in bytes", () => {
    expect(refusal({ args: ["x".repeat(4096)] })).toBe("rendered")
    expect(refusal({ args: ["x".repeat(4097)] })).toContain("longer than 4 KiB")
    expect(refusal({ args: ["ü".repeat(2049)] })).toContain("longer than 4 KiB")
  })

  it("refuses commands of 100 KiB and more", () => {
    expect(refusal({ args: Array.from({ length: 24 }, () => "x".repeat(4096)) })).toBe("rendered")
    expect(refusal({ args: Array.from({ length: 25 }, () => "x".repeat(4096)) })).toContain("too long")
    expect(refusal({ args: Array.from({ length: 24 }, () => "'".repeat(1100)) })).toContain("too long")
  })

  it("says nothing of a password, which is no part of the command", () => {
    const text = Either.getOrThrow(renderCommand(command("as_root true", { sudo: true })))
    expect(text).toContain("IFS= read -r berth_password")
    expect(Either.getOrThrow(renderCommand(command("as_root true")))).not.toContain("sudo")
  })
})

// Answers as the sudo of a user with a password does, and writes down what it saw.
const sudo = `#!/bin/sh
printf '%s\\n' "$*" >>"$BERTH_TEST/asked"
case $1 in
  -n) echo "sudo: a password is required" >&2; exit 1 ;;
  -A) shift ;;
  *) exit 9 ;;
esac
ls -l "$SUDO_ASKPASS" >>"$BERTH_TEST/mode"
password=$("$SUDO_ASKPASS" "[sudo] password:")
if [ "$password" != "$BERTH_TEST_PASSWORD" ]; then
  "$SUDO_ASKPASS" 2>/dev/null && echo "asked twice" >>"$BERTH_TEST/asked"
  echo "sudo: 1 incorrect password attempt" >&2
  exit 1
fi
unset BERTH_PASSWORD SUDO_ASKPASS
"$@"
`

const root = process.getuid?.() === 0
const somebody = { uid: 12_345, gid: 12_345 }

const shells = [
  { name: "dash", words: ["dash"] },
  { name: "bash as sh", words: ["bash", "--posix"] },
  { name: "busybox sh", words: ["busybox", "sh"] }
].map((shell) => ({
  ...shell,
  here: process.platform !== "win32" &&
    spawnSync(shell.words[0] ?? "", [...shell.words.slice(1), "-c", "exit 0"]).status === 0
}))

const isHere = (name: string) => process.platform !== "win32" && spawnSync(name, ["-c", "exit 0"]).status === 0

for (const shell of ["sh", "bash", "zsh", "fish", "tcsh", "ksh", "mksh"].filter(isHere)) {
  it(`brings any script, argument and input through the login shell ${shell}`, () => {
    const mark = makeMark()
    const args = ["it's", "a!b!!", "\\n\\", "é — $HOME `id` \"q\" @139 %s & # ~ * [a]", "", "\x01\x7f\t"]
    const script = [
      "printf '%s|' \"$#\" \"$@\"",
      ...Array.from({ length: 1500 }, () => "# it's \\ a ! \"line\" $of @ many; é"),
      "printf '%s' \"it's \\\\ ! here\"; cat; echo 'an error' >&2; exit 7"
    ].join("\n")
    const text = Either.getOrThrow(renderCommand(command(script, { args }), mark))
    const { status, stderr, stdout } = spawnSync(shell, ["-c", text], { input: "in\nput", encoding: "utf8" })
    expect({ status, stderr, stdout }).toEqual({
      status: 7,
      stderr: `${mark.join("")}an error\n`,
      stdout: `${mark.join("")}${args.length}|${args.join("|")}|it's \\ ! herein\nput`
    })
  })
}

it("fails, and says why, where a server cannot read the script", () => {
  const path = mkdtempSync(join(tmpdir(), "berth-bare-"))
  symlinkSync("/bin/sh", join(path, "sh"))
  const mark = makeMark()
  const text = Either.getOrThrow(renderCommand(command("echo never"), mark))
  const done = spawnSync("/bin/sh", ["-c", text], { env: { PATH: path }, encoding: "utf8" })
  rmSync(path, { recursive: true })
  expect(done).toMatchObject({ status: 127, stdout: mark.join("") })
  expect(done.stderr).toContain("awk is not installed")
})

it("is not answered by a login shell that repeats the command", () => {
  const mark = makeMark()
  expect(Either.getOrThrow(renderCommand(command("true"), mark))).not.toContain(mark.join(""))
})

for (const { here, name, words } of shells) {
  describe.skipIf(!here)(`renderCommand in ${name}${here ? "" : " (not installed)"}`, () => {
    let room = ""
    const home = () => join(room, "home of $HOME")
    beforeAll(() => {
      room = mkdtempSync(join(tmpdir(), "berth-shell-"))
      mkdirSync(home())
      mkdirSync(join(room, "bin"))
      writeFileSync(join(room, "bin", "sudo"), sudo)
      chmodSync(join(room, "bin", "sudo"), 0o755)
      if (root) { for (const each of [room, home()]) chownSync(each, somebody.uid, somebody.gid) }
    })
    afterAll(() => rmSync(room, { recursive: true, force: true }))

    const run = (
      remote: RemoteCommand,
      stdin: string | Buffer = "",
      env: Record<string, string> = {},
      as = somebody
    ) => {
      const text = Either.getOrThrow(renderCommand(remote)).replace(/^sh /, `${words.join(" ")} `)
      const [program = "", ...before] = words
      const done = spawnSync(program, [...before, "-c", text], {
        input: stdin,
        cwd: room,
        timeout: 10_000,
        ...root ? as : {},
        env: {
          PATH: `${join(room, "bin")}:${process.env["PATH"] ?? ""}`,
          HOME: home(),
          BERTH_TEST: room,
          BERTH_TEST_PASSWORD: "p' $x",
          ...env
        }
      })
      return { code: done.status, stdout: done.stdout.toString("latin1"), stderr: done.stderr.toString("utf8") }
    }
    const asked = () => {
      const text = readFileSync(join(room, "asked"), "utf8")
      rmSync(join(room, "asked"))
      return text.trimEnd().split("\n")
    }

    it("brings any argument through unread", () => {
      const argument = FastCheck.string({ unit: "binary", maxLength: 40 }).filter((text) =>
        !/[\0\r\n]/.test(text) && Buffer.from(text).toString() === text
      )
      const args = [
        "",
        " ",
        "'",
        "''",
        "\\",
        "$(touch pwned)",
        "`touch pwned`",
        "a'; touch pwned; '",
        "-n",
        "--",
        "*",
        "~",
        "ü€😀",
        "\t",
        "!!",
        "a\\nb",
        ...FastCheck.sample(argument, { numRuns: 50, seed: 1 })
      ]
      const { stdout } = run(command("printf '%s\\n' \"$#\" \"$@\"", { args }))
      expect(Buffer.from(stdout, "latin1").toString().split("\n")).toEqual([String(args.length), ...args, ""])
      expect(readdirSync(room)).not.toContain("pwned")
    })

    it("finds paths below the home", () => {
      const paths = ["~", "~/x y/'z", "~user", "a/~/b", "-rf", "/abs", "", "~/-x", "$HOME"]
      const { stdout } = run(command("for each do path_of \"$each\"; done", { args: paths }))
      expect(stdout.split("\n")).toEqual(
        [home(), `${home()}/x y/'z`, "~user", "a/~/b", "./-rf", "/abs", "", `${home()}/-x`, "$HOME", ""]
      )
    })

    it("runs a program directly without sudo", () => {
      expect(run(command("as_root sh -c 'cat; exit 3'"), "in")).toEqual({ code: 3, stdout: "in", stderr: "" })
    })

    it("sends the password by a program that answers once, and the rest of stdin byte for byte", () => {
      const bytes = Buffer.from(Array.from({ length: 5_000 }, (_, index) => index * 7 % 256))
      const done = run(command("as_root cat", { sudo: true }), Buffer.concat([Buffer.from("p' $x\n"), bytes]))
      expect(done.code).toBe(0)
      expect(Buffer.from(done.stdout, "latin1").equals(bytes)).toBe(true)
      expect(asked()).toEqual(["-A cat"])
      expect(readFileSync(join(room, "mode"), "utf8")).toMatch(/^-rwx------/)
    })

    it("asks anew for each call and hands exit codes through", () => {
      const script = "as_root true; as_root sh -c 'exit 7' || echo \"got $?\"; as_root echo \"$1\" | cat"
      expect(run(command(script, { sudo: true, args: ["it's"] }), "p' $x\n")).toEqual({
        code: 0,
        stdout: "got 7\nit's\n",
        stderr: ""
      })
      expect(asked()).toHaveLength(3)
    })

    it("tries a wrong password once", () => {
      const done = run(command("as_root echo in", { sudo: true }), "wrong\n")
      expect(done).toMatchObject({ code: 1, stdout: "" })
      expect(done.stderr).toContain("incorrect password attempt")
      expect(asked()).toEqual(["-A echo in"])
    })

    it("asks for nothing when there is no password", () => {
      expect(run(command("as_root echo in", { sudo: true }), "\n")).toMatchObject({ code: 1, stdout: "" })
      expect(asked()).toEqual(["-n echo in"])
    })

    it.skipIf(!root)("leaves sudo out for root, whose stdin still begins with the password", () => {
      const done = run(command("as_root cat", { sudo: true }), "p' $x\nin", {}, { uid: 0, gid: 0 })
      expect(done).toEqual({ code: 0, stdout: "in", stderr: "" })
      expect(readdirSync(room)).not.toContain("asked")
    })

    it("keeps the password from the script's own programs, and the umask and exit trap from its changes", () => {
      const script =
        "trap 'echo bye' EXIT; umask 022; env | grep -c \"p' \"; as_root sh -c 'umask'; umask; set | grep '^berth_dir'"
      const done = run(command(script, { sudo: true }), "p' $x\n", {
        BERTH_TEST_PASSWORD: "p' $x",
        berth_password: "old"
      })
      // The one line is the test's own variable.
      expect(done.stdout).toBe("1\n0022\n0022\nbye\n")
    })

    it("leaves nothing in the home", () => {
      run(command("as_root true; as_root false", { sudo: true }), "p' $x\n")
      run(command("as_root true", { sudo: true }), "wrong\n")
      expect(readdirSync(home())).toEqual([])
    })

    it("does without a home that can be written to", () => {
      const done = run(command("as_root echo in", { sudo: true }), "p' $x\n", { HOME: "/nonexistent" })
      expect(done).toEqual({ code: 0, stdout: "in\n", stderr: "" })
    })
  })
}
