import { describe, expect, layer } from "@effect/vitest"
import { Effect, Either, Option, Redacted } from "effect"
import { it } from "vitest"
import { parseSettingsDocument } from "../../../../src/services/settings/document.ts"
import { maskSettingsText } from "../../../../src/services/settings/values.ts"
import { localSettings, settingsWorkshop, withEnv } from "../../../fixtures/settingsIn.ts"

const problemOf = (text: string) =>
  Either.match(parseSettingsDocument("f", text), { onLeft: ({ message }) => message, onRight: () => "none" })
const first = "{ name: team, url: \"https://hooks.example.com/secret-path\", events: [failed], format: slack }"
const entry = (more: string) => `notify:\n  - ${first}\n  - ${more}\n`

describe("notify", () => {
  it.each([
    ["{ name: own, url: \"http://127.0.0.1/x\", events: [failed, drift], format: json, secret: s }", "none"],
    ["{ name: own, url: \"${env:X}\", events: [failed], format: json }", "none"],
    ["{ name: team, url: \"https://a.test/\", events: [failed], format: json }", /two targets with the same name/],
    ["{ name: own, url: \"http://a.test/\", events: [failed], format: json }", /notify\[1\]\.url must be an https/],
    [
      "{ name: own, url: \"https://a.test/\", events: [], format: json }",
      /notify\[1\]\.events must be a list of failed/
    ],
    ["{ name: own, url: \"https://a.test/\", events: [bad], format: json }", /notify\[1\]\.events must be a list of/],
    [
      "{ name: own, url: \"https://a.test/\", events: [drift], format: xml }",
      /notify\[1\]\.format must be json, slack/
    ],
    ["{ name: a/b, url: \"https://a.test/\", events: [drift], format: json }", /notify\[1\]\.name must be a name/],
    ["{ name: own, events: [drift], format: json }", "f:3: notify[1].url is missing"],
    ["{ name: own, url: \"https://a.test/\", event: [drift], format: json }", /Did you mean "events"/],
    ["own", "f:3: notify[1] must have a name, a url, events and a format"]
  ])("with the entry %s: %s", (more, problem) => {
    expect(problemOf(entry(more))).toEqual(typeof problem === "string" ? problem : expect.stringMatching(problem))
  })

  it("never shows the address that does not fit", () => {
    expect(problemOf(entry("{ name: own, url: \"http://a.test/secret\", events: [failed], format: json }")))
      .not.toContain("a.test")
  })

  it("is masked where the text of the file is shown", () => {
    const text = entry("{ name: own, url: \"https://a.test/x\", events: [failed], format: json, secret: hush }")
    const masked = Option.getOrThrow(maskSettingsText(text, {}))
    expect(masked).not.toMatch(/secret-path|a\.test|hush/)
    expect(masked).toContain("name: team")
  })

  layer(localSettings)("in a file", (it) => {
    it.scoped("lists what keeps a target from being told, and knows its secrets", () =>
      Effect.gen(function*() {
        const text = entry("{ name: own, url: \"${env:OWN}\", events: [drift], format: json, secret: hush-hush }")
        const { settings, write } = yield* settingsWorkshop(text)
        const listed = yield* withEnv({})(settings.listedTargets)
        expect(listed).toEqual([
          { name: "team", format: "slack", events: ["failed"], line: 2, problem: null },
          {
            name: "own",
            format: "json",
            events: ["drift"],
            line: 3,
            problem: expect.stringContaining("notify[1].url")
          }
        ])
        const secrets = yield* withEnv({ OWN: "https://own.test/hidden" })(settings.secrets)
        expect(secrets.map(Redacted.value)).toEqual([
          "https://hooks.example.com/secret-path",
          "https://own.test/hidden",
          "hush-hush"
        ])
        expect((yield* withEnv({})(settings.findings)).map(({ problem }) => problem)).toEqual([
          expect.stringContaining("notify[1].url")
        ])
        // Targets that the last readable file named are told nevertheless.
        expect((yield* settings.targets).map(({ name }) => name)).toEqual(["team", "own"])
        yield* write("notify: [\n")
        expect((yield* settings.targets).map(({ name }) => name)).toEqual(["team", "own"])
      }))
  })
})
