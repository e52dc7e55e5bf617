import { describe, expect, it } from "@effect/vitest"
import { Effect, FastCheck, Option } from "effect"
import { spawnSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { userInfo } from "node:os"
import { join } from "node:path"
import { readSshHost, withTokens } from "../../../../src/services/sshClient/clientConfig.ts"
import { inPart } from "../../../fixtures/thorough.ts"
import { temporaryDirectory } from "../../../layers/temporary.ts"

const hasSsh = spawnSync("ssh", ["-V"]).status === 0
const user = hasSsh ? userInfo().username : ""

const { array, constantFrom, oneof, record } = FastCheck
const host = constantFrom("shop", "shop.dmz.example", "gate", "Attic", "10.0.0.1")
const pattern = constantFrom(
  "shop",
  "s*",
  "*.example",
  "?hop",
  "*",
  "!gate",
  "gate",
  "attic",
  "Attic",
  "10.0.0.*",
  "!shop"
)
const list = array(pattern, { minLength: 1, maxLength: 3 }).map((all) => all.join(","))
const not = constantFrom("", "", "", "!")
const name = constantFrom(user, "ann", "a*", "bob")
const criterion = oneof(
  record({ not, list }).map(({ list, not }) => `${not}host ${list}`),
  record({ not, list }).map(({ list, not }) => `${not}originalhost ${list}`),
  record({ not, name }).map(({ name, not }) => `${not}user ${name}`),
  record({ not, name }).map(({ name, not }) => `${not}localuser ${name}`),
  constantFrom("final", "!final", "canonical", "HOST shop")
)
const quoted = (text: string) => constantFrom(text, text, text, `"${text}"`, `'${text}'`, `${text} # more`)
const setting = oneof(
  constantFrom("%h.dmz.example", "shop.dmz.example", "10.0.0.1", "gate").chain(quoted).map((value) =>
    `HostName ${value}`
  ),
  name.chain(quoted).map((value) => `User ${value}`),
  constantFrom("22", "2210", "7").chain(quoted).map((value) => `Port=${value}`),
  constantFrom("gate", "ann@gate:2222,attic", "none").map((value) => `ProxyJump = ${value}`),
  constantFrom("nc %h %p", "none", "ssh -W \"%h:%p\" gate # no comment").map((value) => `proxycommand ${value}`),
  constantFrom("~/.ssh/a", "/keys/b", "~/.ssh/a b").map((value) => `IdentityFile "${value}"`),
  constantFrom("# a comment", "", "\tForwardAgent no", "Compression yes")
)
const section = oneof(
  array(pattern, { minLength: 1, maxLength: 3 }).map((all) => `Host ${all.join(" ")}`),
  array(criterion, { minLength: 1, maxLength: 2 }).map((all) => `Match ${all.join(" ")}`),
  constantFrom("Match all", "Host *", "Match final all")
)
const file = (include: FastCheck.Arbitrary<string>) =>
  record({
    lines: array(
      oneof({ arbitrary: section, weight: 1 }, { arbitrary: setting, weight: 3 }, { arbitrary: include, weight: 1 }),
      {
        maxLength: 14
      }
    ),
    end: constantFrom("\n", "\n", "\r\n", " \n")
  }).map(({ end, lines }) => lines.map((line) => `${line}${end}`).join(""))
const scene = record({
  host,
  config: file(constantFrom("Include @/vms/*/ssh.config", "Include @/more @/none", "Include @/v*/b/ssh.conf?g")),
  more: file(setting),
  // Its programs are left out, with a word.
  machine: file(constantFrom("Include more @/none")).map((text) => text.replaceAll(/^proxycommand.*$/gm, "")),
  a: file(setting),
  b: file(setting)
})

/** Settings as `ssh -G` prints them; undefined if it refuses the files. */
const askSsh = (config: string, host: string) => {
  const { status, stdout } = spawnSync("ssh", ["-G", "-F", config, host], { encoding: "utf8" })
  if (status !== 0) return undefined
  const values = (key: string) =>
    stdout.split("\n").flatMap((line) => line.startsWith(`${key} `) ? [line.slice(key.length + 1)] : [])
  return {
    hostname: values("hostname")[0],
    user: values("user")[0],
    port: values("port")[0],
    proxyjump: values("proxyjump")[0],
    proxycommand: values("proxycommand")[0],
    identityFiles: values("identityfile")
  }
}

describe.skipIf(!hasSsh)(`files of the SSH client${hasSsh ? "" : " (needs ssh)"}`, () => {
  it.scopedLive("mean what they mean to OpenSSH, whatever they say", () =>
    Effect.gen(function*() {
      let compared = 0
      for (
        const [index, { a, b, config, host, machine, more }] of FastCheck.sample(scene, inPart(1_500, 75)).entries()
      ) {
        const home = join(yield* temporaryDirectory, String(index))
        for (
          const [path, text] of [
            ["vms/a/ssh.config", a],
            ["vms/b/ssh.config", b],
            ["more", more],
            [
              "config",
              config
            ],
            ["etc/ssh_config", machine.replaceAll("Include more", "Include @/etc/more")],
            ["etc/more", a.replaceAll(/^proxycommand.*$/gm, "")]
          ] as const
        ) {
          mkdirSync(join(home, path, ".."), { recursive: true })
          writeFileSync(join(home, path), text.replaceAll("@/", `${home}/`), { mode: 0o600 })
        }
        // Files that are named have no others behind them.
        const all = join(home, "all")
        writeFileSync(all, `Include ${home}/config\nMatch all\nInclude ${home}/etc/ssh_config\n`, { mode: 0o600 })
        const said = askSsh(all, host)
        if (said === undefined) continue
        compared++
        const systemConfig = join(home, "etc/ssh_config")
        writeFileSync(systemConfig, machine.replaceAll("@/", `${home}/`))
        const found = yield* readSshHost({ home, directory: home, systemConfig, user }, host)
        const value = (key: string) => found.values.get(key)?.value
        const [proxy] = [...found.values.keys()].filter((key) =>
          key === "proxycommand" || (key === "proxyjump" && value(key) !== "none")
        )
        const through = (key: string) => proxy === key && value(key) !== "none" ? value(key) : undefined
        expect({
          hostname: Option.getOrThrow(withTokens(value("hostname") ?? host, { h: host })).toLowerCase(),
          user: value("user") ?? user,
          port: value("port") ?? "22",
          proxyjump: through("proxyjump"),
          proxycommand: through("proxycommand"),
          identityFiles: found.identityFiles.length === 0
            ? said.identityFiles
            : found.identityFiles.map(({ value }) => value)
        }, `${config}\n-- more\n${more}\n-- a\n${a}\n-- b\n${b}\n-- machine\n${machine}\n-- ${host}`).toEqual({
          ...said,
          proxycommand: said.proxycommand === "none" ? undefined : said.proxycommand
        })
        expect(found.unread).toEqual([])
      }
      expect(compared).toBeGreaterThan(20)
    }), 120_000)
})
