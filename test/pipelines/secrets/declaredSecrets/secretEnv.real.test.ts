import { describe, expect, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { execFileSync, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parse } from "yaml"
import { mergeSecrets } from "../../../../src/pipelines/secrets/declaredSecrets.ts"
import { awkwardValues, printable } from "../../../fixtures/awkwardValues.ts"
import { realDocker } from "../../../fixtures/docker/docker.ts"
import { patience } from "../../../fixtures/patience.ts"

const composes: ReadonlyArray<readonly [string, ...ReadonlyArray<string>]> = [["docker-compose"], ["docker", "compose"]]
const present = composes.filter(([program, ...args]) =>
  spawnSync(program, [...args, "version"], { stdio: "ignore", timeout: 20_000 }).status === 0
)

/** Any printable characters and line breaks, and often those that some quoting treats in its own way. */
const characters = FastCheck.oneof(
  FastCheck.constantFrom(...printable, "\n", "\r", "\t"),
  FastCheck.constantFrom(
    "$",
    "\\",
    "'",
    "\"",
    "`",
    "{",
    "}",
    "#",
    "=",
    "\n",
    " ",
    "$$",
    "${",
    "\\n",
    "\\\"",
    "é",
    "🔑"
  ),
  FastCheck.constantFrom("${HOME}", "$HOME", "${X:-y}", "${X", "export ", "\\'", "$(id)", "%", "!")
)
const values = FastCheck.array(
  FastCheck.array(characters, { minLength: 1, maxLength: 12 }).map((pieces) => pieces.join("")),
  { minLength: 150, maxLength: 150 }
)

describe.skipIf(!realDocker.available)(
  realDocker.title("Compose on this machine"),
  { timeout: 60_000 * patience },
  () => {
    /** Fails unless each Compose reads these values back, listed, interpolated and from an env file. */
    const expectUnchanged = (given: ReadonlyArray<string>) => {
      const variables = new Map(given.map((value, index) => [`V${index}`, value]))
      const names = [...variables.keys()]
      const directory = mkdtempSync(join(tmpdir(), "berth-env-"))
      try {
        writeFileSync(join(directory, ".env"), mergeSecrets("PLAIN=1\n", variables))
        writeFileSync(
          join(directory, "docker-compose.yml"),
          JSON.stringify({
            version: "3.8",
            services: {
              listed: { image: "none", environment: names },
              interpolated: { image: "none", environment: names.map((name) => `${name}=\${${name}}`) },
              file: { image: "none", env_file: ".env" }
            }
          })
        )
        const wanted = Object.fromEntries(variables)
        for (const [program, ...args] of present) {
          // Compose 2.26 writes a text that begins with a line break as YAML that says something else.
          const printed = program === "docker" ? ["config", "--format", "json"] : ["config"]
          const text = execFileSync(program, [...args, ...printed], { cwd: directory, encoding: "utf8", stdio: "pipe" })
          // The output doubles each dollar sign.
          const shown: unknown = parse(
            text,
            (_, value: unknown) => typeof value === "string" ? value.replaceAll("$$", () => "$") : value
          )
          expect(shown).toMatchObject({
            services: {
              listed: { environment: wanted },
              interpolated: { environment: wanted },
              file: { environment: wanted }
            }
          })
        }
      } finally {
        rmSync(directory, { recursive: true, force: true })
      }
    }

    it("reads every printable character and line break of a secret unchanged", () => {
      expect(present).not.toEqual([])
      expectUnchanged(awkwardValues)
    })

    it("reads any value unchanged", () => {
      FastCheck.assert(FastCheck.property(values, expectUnchanged), { numRuns: 4, endOnFailure: true })
    })
  }
)
