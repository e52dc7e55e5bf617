// Tests a program over the pipelines without a server.
//
//   npx tsx --test examples/listContainers.test.ts
import { listContainers } from "berth-pipelines/pipelines"
import { settingsTest, sshTest, storedServer } from "berth-pipelines/services"
import { Effect } from "effect"
import { deepEqual } from "node:assert/strict"
import { test } from "node:test"

const listed = { name: "web", status: "Up 2 hours", ports: "80/tcp" }

test("names the containers that run", () =>
  listContainers("1").pipe(
    Effect.map((containers) => deepEqual(containers, [listed])),
    Effect.provide(sshTest({ "listing containers": { stdout: "web\tUp 2 hours\t80/tcp\n" } })),
    Effect.provide(settingsTest({}, [storedServer({ id: "1" })])),
    Effect.runPromise
  ))
