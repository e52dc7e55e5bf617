import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { readComposeFile } from "../../../src/pipelines/projects/compose.ts"
import { findReferences } from "../../../src/pipelines/projects/deployFiles.ts"
import { patience } from "../../fixtures/patience.ts"
import { inPart } from "../../fixtures/thorough.ts"
import { memoryWorld } from "../../layers/worlds/memoryWorld.ts"

const lines = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => line(index)).join("")
const services = (count: number, fields: (index: number) => string) => ({
  "compose.yml": `services:\n${lines(count, (index) => `  s${index}: {${fields(index)}}\n`)}`
})
const names = Array.from({ length: 60 }, (_, index) => `f${index}.yml`)

/** Compose projects of a cloned repository, each as large as its kind may be. */
const projects: ReadonlyArray<readonly [name: string, files: Readonly<Record<string, string>>]> = [
  ["of many services", services(4_500, () => "image: a")],
  ["of many env files", services(2_600, (index) => `image: a, env_file: [e${index}]`)],
  ["of many mounts", services(2_600, (index) => `image: a, volumes: ["./m${index}:/m"]`)],
  ["of many variables without a value", services(4_500, (index) => `image: "$V${index}"`)],
  ["of many profiles and ports", services(1_800, () => `image: a, profiles: [a], ports: ["1:1"]`)],
  ["of long chains", services(3_000, (index) => index === 0 ? "image: a" : `extends: {service: s${(index - 1) % 31}}`)],
  ["of builds over files", {
    ...services(1_500, () => "build: {context: ., args: {A: b}}"),
    "other.yml": services(1_500, () => "build: {args: [C=d]}")["compose.yml"],
    ".env": "COMPOSE_FILE=compose.yml:other.yml\n"
  }],
  ["with two ways to each included file", {
    ...Object.fromEntries(names.map((name, index) => [
      name,
      `include: [${names[index + 1] ?? "end.yml"}, ${
        names[index + 1] ?? "end.yml"
      }]\nservices: {s${index}: {image: a}}\n`
    ])),
    "compose.yml": "include: [f0.yml, f0.yml]\nservices: {first: {image: a}}\n",
    "end.yml": "services: {last: {image: a}}\n"
  }]
]

describe("a compose project", () => {
  it.effect.each(inPart(projects, projects.filter((_, at) => at % 2 === 1)))(
    "%s is read in no more time than its size takes",
    ([, files]) =>
      Effect.gen(function*() {
        const began = process.cpuUsage()
        const compose = yield* readComposeFile("/srv/shop")
        yield* findReferences("/srv/shop", compose, {})
        const { system, user } = process.cpuUsage(began)
        expect(compose.services.length).toBeGreaterThan(60)
        expect((system + user) / 1_000).toBeLessThan(4_000 * patience)
      }).pipe(
        Effect.provide(memoryWorld({
          files: Object.fromEntries(Object.entries(files).map(([name, text]) => [`/srv/shop/${name}`, text]))
        }))
      ),
    60_000 * patience
  )
})
