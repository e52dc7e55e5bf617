import { HttpServer } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Layer, Logger } from "effect"
import { formatBaseUrl, listen } from "../../../src/http/listen.ts"
import { PageDirectory } from "../../../src/http/pages.ts"
import { Http } from "../../../src/http/server.ts"
import { servicesLive } from "../../../src/services/ServicesLive.ts"
import { Settings } from "../../../src/services/settings/Settings.ts"
import { settingsFileWith } from "../../fixtures/programs/service.ts"

const broken = Effect.die(new Error("hunter2-secret broke it"))

/** The service with settings of which these parts fail in a way that was not foreseen. */
const startBroken = (parts: Partial<Settings["Type"]>, log: Array<string>) =>
  Effect.gen(function*() {
    const file = yield* settingsFileWith("")
    const services = Layer.map(
      servicesLive(file),
      (context) => Context.add(context, Settings, { ...Context.get(context, Settings), ...parts })
    )
    const written = Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ message }) => void log.push([message].flat().join("\n")))
    )
    const served = listen(
      Http,
      Layer.merge(Layer.provide(services, NodeContext.layer), Layer.succeed(PageDirectory, "/nowhere")),
      { host: "127.0.0.1", port: 0 }
    )
    const context = yield* Layer.build(Layer.fresh(Layer.provideMerge(served, written)))
    return formatBaseUrl(Context.get(context, HttpServer.HttpServer).address)
  })

describe("a defect outside of every route", () => {
  const failures: ReadonlyArray<readonly [of: string, parts: Partial<Settings["Type"]>, isWhole: boolean]> = [
    ["of the guard", { guard: broken }, true],
    ["of the guard, while secrets cannot be told", { guard: broken, secrets: broken }, false]
  ]

  it.scopedLive.each(failures)(
    "%s is answered in words, with the headers of every answer, and logged",
    ([, parts, isWhole]) =>
      Effect.gen(function*() {
        const log: Array<string> = []
        const url = yield* startBroken(parts, log)
        for (
          const [method, path] of [["GET", "/"], ["GET", "/api/health"], ["POST", "/api/servers"], ["GET", "/none"]]
        ) {
          log.length = 0
          const response = yield* Effect.promise(() => fetch(`${url}${path}`, { method: method ?? "" }))
          expect([path, response.status, yield* Effect.promise(() => response.json())]).toEqual([
            path,
            500,
            { error: "Internal error: see the service's log" }
          ])
          expect(Object.fromEntries(response.headers)).toMatchObject({
            "x-content-type-options": "nosniff",
            "cache-control": "no-store",
            "cross-origin-resource-policy": "same-origin"
          })
          const logged = log.join("\n")
          expect(logged).toContain("A request failed in a way that was not foreseen")
          expect(logged).toMatch(/ at .+answerDefects\.sandbox\.test\.ts/)
          expect(logged.includes("hunter2-secret")).toBe(isWhole)
        }
      })
  )
})
