import { expect, it } from "@effect/vitest"
import { toRecordedRequest } from "../../../src/pipelines/projects/places.ts"
import type { ServerAccess } from "../../../src/schema/ssh.ts"

const server: ServerAccess = {
  id: "7",
  name: "Main",
  host: "main.test",
  port: 22,
  username: "deploy",
  useSudo: false,
  credentials: {}
}
const place = { server, remotePath: "~/shop-live", environment: "live", protection: { environment: "live" } }

it.each([
  { projectPath: "/projects/shop", environment: "live", confirm: "live", backup: "3" },
  { serverId: "main", remotePath: "~/shop-live/", confirm: "live", backup: "3" },
  { projectPath: "/projects/shop", environment: "live", serverId: "Main", remotePath: null, backup: "3" }
])("a request is recorded with its place and without its confirmation, however it named the place: %j", (request) => {
  expect(toRecordedRequest(place, request)).toEqual({
    backup: "3",
    environment: "live",
    serverId: "7",
    remotePath: "~/shop-live"
  })
})
