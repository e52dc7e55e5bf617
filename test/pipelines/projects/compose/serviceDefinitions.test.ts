import { describe, expect, it } from "vitest"
import { parseServiceDefinitions } from "../../../../src/pipelines/projects/compose.ts"

const web = (compose: string, env = "") => parseServiceDefinitions(compose, env).get("web")?.text

describe("the definition of a service", () => {
  it("is the same for what compose takes for the same", () => {
    const compose = "services:\n  web: { image: \"shop:${TAG}\", environment: { A: 1, B: 2 } }\n"
    const other =
      "services:\n  db: { image: db }\n  web:\n    environment:\n      B: 2\n      A: 1\n    image: shop:1\n" +
      "    depends_on: [db]\n    scale: 2\n"
    expect(web(compose, "TAG=1\n")).toBe(web(other))
  })

  it.each([
    ["another value in .env", "services: { web: { image: \"shop:${TAG}\" } }", "TAG=2"],
    ["another key", "services: { web: { image: \"shop:1\", init: true } }", ""],
    [
      "another network of the stack",
      "services: { web: { image: \"shop:1\" } }\nnetworks: { default: { internal: true } }",
      ""
    ]
  ])("is another one with %s", (_, compose, env) => {
    expect(web(compose, env)).not.toBe(web("services: { web: { image: \"shop:1\" } }"))
  })

  it("knows a service without containers, and nothing of what is not compose", () => {
    const zero = parseServiceDefinitions(
      "services: { web: { scale: 0 }, db: { deploy: { replicas: 0 } }, a: null }",
      ""
    )
    expect([...zero.values()].map(({ isScaledToZero }) => isScaledToZero)).toEqual([true, true, false])
    for (const text of ["", "[", "services: 7", "a: &a [*a]", `services: ${"[".repeat(3000)}`]) {
      expect(parseServiceDefinitions(text, "").size).toBe(0)
    }
  })
})
