import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { script } from "../../../src/remote/activation/checkCompose.sh.ts"

const secret = "hush-hush"
/** Output of Compose 2, with the directory of the check in place of `@`. */
const json = `{
  "name": "check",
  "secrets": {
    "key": {
      "name": "check_key",
      "file": "@/key.txt"
    }
  },
  "services": {
    "web": {
      "environment": {
        "A": "\\n    \\"image\\": \\"evil\\"\\n${secret}"
      },
      "image": "shop:7",
      "volumes": [
        {
          "type": "bind",
          "source": "@/a b\\u0026c.conf",
          "target": "/c",
          "bind": {
            "create_host_path": true
          }
        },
        {
          "type": "volume",
          "source": "data",
          "target": "/d",
          "volume": {}
        },
        {
          "type": "bind",
          "source": "/etc/hosts",
          "target": "/h"
        }
      ]
    }
  }
}
`
/** The same of docker-compose 1.29, which prints services that no profile starts, too. */
const yaml = `secrets:
  key:
    file: @/key.txt
services:
  '7':
    image: other
    profiles:
    - more
  web:
    environment:
      A: "\\n    image: evil\\

        services:\\n  hack: ${secret}"
    image: shop:7
    volumes:
    - '@/a
      b&c.conf:/c:ro'
    - data:/d:rw
    - bind:
        propagation: shared
      source: /etc/hosts
      target: /h
      type: bind
version: '3.9'
`
const expected = [
  "service\truns\tweb",
  "service\trests\t7",
  "image\tweb\tshop:7",
  "mount\tweb\ta b&c.conf",
  "needed\truns\ta b&c.conf",
  "file\tkey.txt",
  "needed\truns\tkey.txt",
  "read\tcompose.yml",
  "read\t.env"
]

describe("the comparison of what Compose renders with the plan", () => {
  let directory = ""
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "berth-check-"))
    mkdirSync(join(directory, ".berth/staged"), { recursive: true })
    writeFileSync(join(directory, ".berth/gone"), ".env\n")
    writeFileSync(join(directory, ".berth/staged/compose.yml"), "staged")
    writeFileSync(join(directory, "compose.yml"), "in use")
    writeFileSync(join(directory, ".env"), `A=${secret}`)
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  const run = (kind: "v1" | "v2", lines: ReadonlyArray<string>, rendered: string, code = 0) => {
    const stub = [
      "tab=$(printf '\\t'); staged=.berth/staged; manifest=; check_warning=",
      "refuse_start() { printf 'failed config yes\\n%s\\n' \"$said\"; exit 1; }",
      "compose_stack() { { cat compose.yml; ls -A; } >../seen; printf '%s' \"$RENDERED\" | sed \"s,@,$(pwd),\"; [ \"$CODE\" = 0 ] || echo \"$(pwd)/app.env not found\" >&2; return \"$CODE\"; }",
      script,
      "check_begin; wait; check_end; printf 'same %s\\n' \"$check_warning\""
    ].join("\n")
    return spawnSync("sh", ["-c", stub], {
      cwd: directory,
      encoding: "utf8",
      env: {
        ...process.env,
        compose_kind: kind,
        compose_version: "1",
        check_expected: lines.join("\n"),
        RENDERED: rendered,
        CODE: String(code)
      }
    }).stdout
  }
  const both = [["v1", yaml], ["v2", json]] as const

  it.each(both)("finds none where they agree, from the staged files alone (%s)", (kind, rendered) => {
    expect(run(kind, expected, rendered)).toBe("same \n")
    expect(readFileSync(join(directory, ".berth/seen"), "utf8")).toBe("staged.berth\ncompose.yml\n")
    expect(existsSync(join(directory, ".berth/check"))).toBe(false)
  })

  it.each(both)("renders nothing again while all that Compose reads is the same (%s)", (kind, rendered) => {
    run(kind, expected, rendered)
    rmSync(join(directory, ".berth/seen"))
    expect(run(kind, expected, "")).toBe("same \n")
    expect(existsSync(join(directory, ".berth/seen"))).toBe(false)
    writeFileSync(join(directory, ".berth/staged/compose.yml"), "other")
    expect(run(kind, expected, "")).toContain("same Compose on the server renders")
  })

  it.each(both)("names services, images and files that differ, and no value of a variable (%s)", (kind, rendered) => {
    const others = [
      "service\truns\tdb",
      "service\trests\t7",
      "image\tweb\tshop:8",
      "needed\truns\tgone.conf",
      "read\tcompose.yml"
    ]
    const said = run(kind, others, rendered)
    expect(said.trim().split("\n").toSorted()).toEqual([
      "differs\tadded\tweb",
      "differs\tfile\tkey.txt",
      "differs\tmissing\tdb",
      "differs\tmount\tweb\ta b&c.conf",
      "differs\tunused\tgone.conf",
      "failed config yes"
    ])
    expect(run(kind, [...others, "service\truns\tweb"], rendered)).toContain("differs\timage\tweb\tshop:7\tshop:8")
    expect(said).not.toContain(secret)
  })

  it.each(both)("ends the deploy with the reason of a Compose that refuses the files (%s)", (kind, rendered) => {
    expect(run(kind, expected, rendered, 1)).toBe("failed config yes\napp.env not found\n")
  })
})
