import { describe, expect, it } from "@effect/vitest"
import { Option } from "effect"
import { findSudoRefusal, stripSudoLecture } from "../../../src/services/ssh/sudoRefusals.ts"

const wrong = `Sorry, try again.
sudo: unable to run /home/deployer/.berth.T0GKaP/askpass: No such file or directory
sudo: no password was provided
sudo: 1 incorrect password attempt
`

const cases: ReadonlyArray<readonly [string, string, string]> = [
  ["sudo 1.9, wrong password", wrong, "1 incorrect password attempt"],
  ["sudo 1.9, no password", "sudo: a password is required\n", "a password is required"],
  ["sudo 1.9, unknown user", "deployer is not in the sudoers file.\n", "deployer is not in the sudoers file"],
  [
    "sudo 1.9, other command",
    "Sorry, user deployer is not allowed to execute '/usr/bin/cat /x' as root on main.\n",
    "Sorry, user deployer is not allowed to execute '/usr/bin/cat /x' as root on main"
  ],
  [
    "sudo 1.9, no terminal",
    "sudo: a terminal is required to read the password; either use the -S option\n",
    "a terminal is required to read the password; either use the -S option"
  ],
  ["sudo 1.9, requiretty", "sudo: sorry, you must have a tty to run sudo\n", "sorry, you must have a tty to run sudo"],
  ["an old sudo", "sudo: invalid option -- 'A'\nusage: sudo …\n", "invalid option -- 'A'"],
  ["an old sudo-rs", "sudo: invalid option provided\n", "invalid option provided"],
  ["sudo-rs 0.2.5", "invalid option provided\nusage: sudo -h | -K | -k | -V\n", "invalid option provided"],
  [
    "sudo-rs, wrong password",
    "sudo: Authentication failed, try again.\nsudo: maximum 3 incorrect authentication attempts\n",
    "maximum 3 incorrect authentication attempts"
  ],
  [
    "sudo-rs, unknown user",
    "sudo-rs: I'm sorry deployer. I'm afraid I can't do that\n",
    "I'm sorry deployer. I'm afraid I can't do that"
  ],
  ["sudo-rs, no password", "sudo: interactive authentication is required\n", "interactive authentication is required"],
  ["no sudo in dash", "sh: 9: sudo: not found\n", "sh: 9: sudo: not found"],
  ["no sudo in bash", "sh: line 9: sudo: command not found\n", "sh: line 9: sudo: command not found"],
  [
    "a home without programs",
    "sudo: unable to run /home/d/.berth.x/askpass: Permission denied\nsudo: no password was provided\n",
    "unable to run /home/d/.berth.x/askpass: Permission denied"
  ]
]

describe("sudoRefusal", () => {
  for (const [name, stderr, words] of cases) {
    it(`tells ${name}`, () => {
      expect(Option.map(findSudoRefusal(stderr), (refusal) => refusal.words)).toEqual(Option.some(words))
    })
  }

  it("says what to do", () => {
    expect(Option.getOrThrow(findSudoRefusal(wrong)).help).toContain("Correct the sudoPassword")
  })

  it("sees no refusal in a command's own words", () => {
    for (const stderr of ["", "cat: /etc/x: Permission denied\n", "docker: command not found\n", "pseudo: not it\n"]) {
      expect(findSudoRefusal(stderr)).toEqual(Option.none())
    }
  })
})

describe("a megabyte of stderr", () => {
  const size = 1_000_000
  const megabyte = (begin: string, again: string) => (begin + again.repeat(size / again.length)).slice(0, size)
  const hostile: ReadonlyArray<readonly [string, string]> = [
    ["one line that could not run", megabyte("sudo: ", "unable to run ")],
    ["one line of askpass", megabyte("sudo: unable to run ", "askpass")],
    ["one line of accounts", megabyte("sudo: ", "account password ")],
    ["one line of both", megabyte("sudo: ", "failed to run askpass unable to run ")],
    ["one line that is sorry", megabyte("sudo: I'm sorry ", " I'm afraid ")],
    ["many lines", megabyte("", "sudo: unable to run x\n")],
    ["empty lines", megabyte("", "\r\n")],
    ["spaces", megabyte("sudo: ", " ")],
    ["lectures without an end", megabyte("", "We trust you have received the usual lecture\n")],
    ["ends of lectures", megabyte("We trust you have received the usual lecture", "great responsibility.\n\n  ")],
    ["sudo again and again", megabyte("", "sudo: command not found ")]
  ]
  for (const [name, stderr] of hostile) {
    it(`is read in no time: ${name}`, () => {
      const begun = performance.now()
      findSudoRefusal(stripSudoLecture(stderr))
      expect(performance.now() - begun).toBeLessThan(500)
    })
  }

  it("is not repeated whole", () => {
    const refusal = Option.getOrThrow(findSudoRefusal(`sudo: a password is required${"!".repeat(10_000)}\n`))
    expect(refusal.words.length).toBeLessThanOrEqual(300)
  })
})

describe("withoutLecture", () => {
  it("drops sudo's lecture and nothing else", () => {
    const lecture = "\nWe trust you have received the usual lecture from the local System\n" +
      "Administrator. It usually boils down to these three things:\n\n    #1) Respect the privacy of others.\n" +
      "    #2) Think before you type.\n    #3) With great power comes great responsibility.\n\n" +
      "For security reasons, the password you type will not be visible.\n\n"
    expect(stripSudoLecture(`before\n${lecture}${lecture}after\n\nend\n`)).toBe("before\nafter\n\nend\n")
    expect(stripSudoLecture("plain\n")).toBe("plain\n")
  })
})
