import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeWorld } from "../../../src/sandbox/world.ts"
import { brokenProjects, mistakenSettings, refusedSecret } from "../../fixtures/hostile/mistakes.ts"
import { addressOf, type Operation, operations } from "../../fixtures/hostile/operations.ts"
import { patience } from "../../fixtures/patience.ts"
import { settingsFileWith, startService } from "../../fixtures/programs/service.ts"
import { unplainWords } from "../../fixtures/voice.ts"

const deploy = { projectPath: "ROOT/bare", serverId: "1", remotePath: "~/containers/x" }
const server = { name: "a", host: "h", username: "u" }
const pem = `-----BEGIN OPENSSH PRIVATE KEY-----\n${refusedSecret}\n-----END OPENSSH PRIVATE KEY-----`
const long = "x".repeat(100_000)
const at = (project: string) => ({ ...deploy, projectPath: `ROOT/${project}` })

type Row = readonly [method: string, path: string, body: unknown, status: number, error: string]

/** Each with the whole answer; ROOT stands for the directory with the projects. */
const mistakes: ReadonlyArray<Row> = [
  [
    "POST",
    "/api/container/deploy",
    undefined,
    400,
    "A JSON body is required, with projectPath"
  ],
  [
    "POST",
    "/api/container/deploy",
    [],
    400,
    "The request must be an object with projectPath, environment, serverId, remotePath, pull, onUnhealthy, confirm, build and planHash"
  ],
  ["POST", "/api/container/deploy", {}, 400, "projectPath is missing"],
  [
    "POST",
    "/api/container/deploy/targets",
    { servers: [], planHash: "x" },
    400,
    "projectPath is missing; servers must not be empty; planHash must be the planHash of a plan, as it was answered"
  ],
  [
    "POST",
    "/api/container/deploy/targets/plan",
    { parallel: true },
    400,
    "projectPath is missing. parallel is not a known field. Known fields: projectPath, environment, servers, pull, onUnhealthy, noSecrets"
  ],
  [
    "POST",
    "/api/container/deploy",
    { ...deploy, dryRun: true },
    400,
    "dryRun is not a known field. Known fields: projectPath, environment, serverId, remotePath, pull, onUnhealthy, confirm, build, planHash"
  ],
  [
    "POST",
    "/api/container/deploy?dryRun=true",
    deploy,
    400,
    "dryRun is not a known query parameter. This endpoint takes none"
  ],
  [
    "POST",
    "/api/container/deploy",
    { ...deploy, remotePth: "~/x" },
    400,
    "remotePth is not a known field. Did you mean \"remotePath\"? Known fields: projectPath, environment, serverId, remotePath, pull, onUnhealthy, confirm, build, planHash"
  ],
  [
    "POST",
    "/api/container/deploy",
    { projectPath: 7, serverId: null, remote_path: "~/x" },
    400,
    "projectPath must be a string. remote_path is not a known field. Did you mean \"remotePath\"? Known fields: projectPath, environment, serverId, remotePath, pull, onUnhealthy, confirm, build, planHash"
  ],
  [
    "POST",
    "/api/container/deploy",
    { ...deploy, serverId: "Mainz" },
    404,
    "Server not found: no stored server has the id or the name \"Mainz\". Ids (and names) of the stored servers: \"1\" (Main), \"2\" (Spare)"
  ],
  [
    "POST",
    "/api/container/deploy",
    { ...deploy, serverId: "Spar" },
    404,
    "Server not found: no stored server has the id or the name \"Spar\". Ids (and names) of the stored servers: \"2\" (Spare), \"1\" (Main)"
  ],
  [
    "POST",
    "/api/container/deploy",
    { ...deploy, projectPath: "shop" },
    400,
    "projectPath \"shop\" is not absolute: give the whole path of the directory"
  ],
  [
    "POST",
    "/api/container/deploy",
    { ...deploy, projectPath: "ROOT/none" },
    400,
    "projectPath \"ROOT/none\" does not exist"
  ],
  [
    "POST",
    "/api/container/deploy",
    { ...deploy, projectPath: "ROOT/bare/notes.txt" },
    400,
    "projectPath \"ROOT/bare/notes.txt\" is not a directory"
  ],
  [
    "POST",
    "/api/container/deploy",
    { ...deploy, projectPath: `/${long}` },
    400,
    `projectPath "/${"x".repeat(148)}…" is longer than 4096 characters`
  ],
  [
    "POST",
    "/api/container/deploy",
    { ...deploy, serverId: long },
    404,
    `Server not found: no stored server has the id or the name "${
      "x".repeat(149)
    }…". Ids (and names) of the stored servers: "1" (Main), "2" (Spare)`
  ],
  [
    "POST",
    "/api/container/deploy",
    { ...deploy, remotePath: "x" },
    400,
    "remotePath must be absolute on the server, or start with ~/"
  ],
  ["POST", "/api/container/deploy", { ...deploy, remotePath: "~/../x" }, 400, "remotePath must not contain \"..\""],
  [
    "POST",
    "/api/container/deploy",
    { ...deploy, remotePath: "~/a\nb" },
    400,
    "remotePath must not contain a line break or NUL"
  ],
  ["POST", "/api/container/deploy", { ...deploy, remotePath: long }, 400, "remotePath must not be longer than 4 KiB"],
  [
    "POST",
    "/api/container/deploy",
    deploy,
    422,
    "Deploy failed at preflight: ROOT/bare has no compose file: add one of compose.yml, compose.yaml, docker-compose.yml, docker-compose.yaml. Nothing on the server was changed"
  ],
  [
    "POST",
    "/api/container/deploy",
    at("empty"),
    422,
    "Deploy failed at preflight: ROOT/empty/compose.yml is empty: it needs a `services:` section. Nothing on the server was changed"
  ],
  [
    "POST",
    "/api/container/deploy",
    at("tabs"),
    422,
    "Deploy failed at preflight: ROOT/tabs/compose.yml:2:1 is not valid YAML: Tabs are not allowed as indentation. Nothing on the server was changed"
  ],
  [
    "POST",
    "/api/container/deploy",
    at("no-services"),
    422,
    "Deploy failed at preflight: ROOT/no-services/compose.yml:1:1 has no services: it needs a `services:` section. Nothing on the server was changed"
  ],
  [
    "POST",
    "/api/container/deploy",
    at("image-list"),
    422,
    "Deploy failed at preflight: ROOT/image-list/compose.yml:3:12: services.web.image must be a string. Nothing on the server was changed"
  ],
  [
    "POST",
    "/api/container/deploy",
    at("odd-config"),
    422,
    "Deploy failed at preflight: ROOT/odd-config/container.json:1:12: filez is not a known field. Did you mean \"files\"? Known fields: serverId, remotePath, targets, parallel, compose, profiles, envFiles, projectName, keepOrphans, data, files, healthTimeout, pull, onUnhealthy, bridged, hooks, secrets, build, backups, environments, requireEnvironment, allowLinks. Nothing on the server was changed"
  ],
  [
    "POST",
    "/api/container/deploy",
    at("wrong-config"),
    422,
    "Deploy failed at preflight: ROOT/wrong-config/container.json:1:12: files must be a list of strings. Nothing on the server was changed"
  ],
  [
    "POST",
    "/api/container/deploy",
    "{\"projectPath\": \"C:\\Users\"}",
    400,
    "The request body is not valid JSON: line 1, column 17, in projectPath: a backslash in a string must be written as \\\\"
  ],
  [
    "POST",
    "/api/container/deploy",
    `{"projectPath": "a",\n "password": "${refusedSecret}",\n}`,
    400,
    "The request body is not valid JSON: line 3, column 1: a name in double quotes is expected here: a comma at the end is not allowed"
  ],
  [
    "POST",
    "/api/container/deploy",
    `{"password": ${refusedSecret}}`,
    400,
    "The request body is not valid JSON: line 1, column 14, in password: a value must be a string in double quotes, a number, true, false, null, [ or {"
  ],
  [
    "POST",
    "/api/container/deploy",
    "{\"projectPath\": ",
    400,
    "The request body is not valid JSON: line 1, column 17, in projectPath: a value is expected here: the text stops before its end"
  ],
  [
    "POST",
    "/api/projects/init",
    { projectpath: "/x" },
    400,
    "projectPath is missing. projectpath is not a known field. Did you mean \"projectPath\"? Known fields: projectPath, serverId, remotePath, plan"
  ],
  [
    "POST",
    "/api/servers",
    { ...server, private_key: pem },
    400,
    "private_key is not a known field. Did you mean \"privateKey\"? Known fields: id, name, host, port, username, jump, useSudo, password, sudoPassword, privateKey, passphrase, agent, newId, uniqueName, hostKey, replacesHostKey"
  ],
  [
    "POST",
    "/api/servers",
    { ...server, privateKey: pem },
    400,
    "privateKey is the path of a key file, not its content"
  ],
  [
    "POST",
    "/api/servers",
    { ...server, password: [refusedSecret], agent: refusedSecret },
    400,
    "password must be a string; agent must be true or false"
  ],
  [
    "POST",
    "/api/servers",
    [{ ...server, password: refusedSecret }],
    400,
    "The request must be an object with id, name, host, port, username, jump, useSudo, password, sudoPassword, privateKey, passphrase, agent, newId, uniqueName, hostKey and replacesHostKey"
  ],
  [
    "POST",
    "/api/servers",
    JSON.stringify(refusedSecret),
    400,
    "The request must be an object with id, name, host, port, username, jump, useSudo, password, sudoPassword, privateKey, passphrase, agent, newId, uniqueName, hostKey and replacesHostKey"
  ],
  ["POST", "/api/servers", { name: "a" }, 400, "host and username are missing"],
  ["POST", "/api/servers", { ...server, id: 5 }, 400, "id must be a string"],
  [
    "POST",
    "/api/servers",
    { ...server, host: "ssh://h" },
    400,
    "host must be a host name or an IP address, without ://"
  ],
  [
    "POST",
    "/api/servers",
    { ...server, host: "x".repeat(254) },
    400,
    "host must be a host name or an IP address, with at most 253 characters"
  ],
  [
    "POST",
    "/api/servers",
    { ...server, host: "root@h" },
    400,
    "host must be a host name or an IP address: the user belongs in username"
  ],
  [
    "POST",
    "/api/servers",
    { ...server, host: "h:22" },
    400,
    "host must be a host name or an IP address: the port belongs in port"
  ],
  [
    "POST",
    "/api/servers",
    { ...server, port: 70_000, useSudo: "yes" },
    400,
    "port must be a whole number from 1 to 65535; useSudo must be true or false"
  ],
  [
    "POST",
    "/api/servers",
    { ...server, name: "", username: " u" },
    400,
    "name must not be empty; username must not start with a space"
  ],
  ["POST", "/api/servers", { ...server, name: long }, 400, "name must not be longer than 4096 characters"],
  [
    "GET",
    "/api/servers/Mainz/scan",
    undefined,
    404,
    "Server not found: no stored server has the id or the name \"Mainz\". Ids (and names) of the stored servers: \"1\" (Main), \"2\" (Spare)"
  ],
  [
    "GET",
    "/api/servers/3/containers",
    undefined,
    404,
    "Server not found: no stored server has the id or the name \"3\". Ids (and names) of the stored servers: \"1\" (Main), \"2\" (Spare)"
  ],
  ["GET", "/api/servers/1/logs", undefined, 500, "Failed to get logs: containerName or remotePath required"],
  [
    "GET",
    "/api/servers/1/logs?containerName=a%3Bb&lines=0",
    undefined,
    400,
    "containerName must be a container name: letters, digits, \"_\", \".\" and \"-\"; lines must be a whole number from 1 to 10000"
  ],
  [
    "GET",
    "/api/servers/1/logs?container=a",
    undefined,
    400,
    "container is not a known query parameter. Did you mean \"contains\"? Known query parameters: containerName, remotePath, lines, since, until, service, contains, timestamps"
  ],
  ["GET", "/api/servers?id=1", undefined, 400, "id is not a known query parameter. This endpoint takes none"],
  ["GET", "/api/health?deep=1", undefined, 400, "deep must be true or false"],
  [
    "POST",
    "/api/container/pull",
    { serverId: "1", files: {} },
    400,
    "files must be a list of objects with name, remotePath, localPath and type"
  ],
  [
    "POST",
    "/api/container/pull",
    { serverId: "1", files: [{ name: "a", remotePath: "~/a", localPath: "/a", type: "dir" }] },
    400,
    "files[0].type must be file or directory"
  ],
  [
    "POST",
    "/api/container/pull",
    { serverId: "1", files: [{ nam: "a" }, "b"] },
    400,
    "files[0].name, files[0].remotePath, files[0].localPath and files[0].type are missing; files[1] must be an object with name, remotePath, localPath and type. files[0].nam is not a known field. Did you mean \"name\"? Known fields of files[0]: name, remotePath, localPath, type"
  ],
  [
    "POST",
    "/api/platform/apps",
    { name: "", gitRepo: 3, buildpack: "dockerfile", isStatic: "yes" },
    400,
    "name must not be empty; buildpack must be composestack or autopack; gitRepo must be a string; isStatic must be true or false"
  ],
  ["POST", "/api/platform/apps/x/envs", { key: "A", value: 1 }, 400, "value must be a string"],
  [
    "POST",
    "/api/platform/apps/x/deploy",
    { dryRun: true },
    400,
    "dryRun is not a known field. This endpoint takes none"
  ],
  [
    "DELETE",
    "/api/platform/apps/x",
    { dryRun: true, confirm: refusedSecret },
    400,
    "dryRun and confirm are not known fields. This endpoint takes none"
  ],
  ["DELETE", "/api/servers/1", [refusedSecret], 400, "This endpoint takes no request body"],
  [
    "POST",
    "/api/runs/x/cancel",
    `{"password": ${refusedSecret}}`,
    400,
    "The request body is not valid JSON: line 1, column 14, in password: a value must be a string in double quotes, a number, true, false, null, [ or {"
  ],
  [
    "POST",
    "/api/runs/x/cancel",
    {},
    404,
    "Run not found: no run has the id \"x\". See the list of runs for the ids"
  ],
  [
    "GET",
    "/api/runs?kind=deplo&state=done&limit=0",
    undefined,
    400,
    "kind must be deploy, rollback, stack, build, pull, upsert, exec, deploy-all, prune, backup or restore; state must be queued, running, succeeded, failed, cancelled or interrupted; limit must be a whole number from 1 to 500"
  ],
  ["GET", "/api/runs?kind=deploy&kind=build", undefined, 400, "kind is given more than once in the query"],
  ["PATCH", "/api/platform/apps/x", [refusedSecret], 400, "The request must be a JSON object"],
  ["POST", "/api/platform/routes", {}, 200, "routeName, domain and port are required"],
  [
    "POST",
    "/api/platform/routes",
    { routeName: "a", domian: "a.test", port: 1 },
    400,
    "domian is not a known field. Did you mean \"domain\"? Known fields: routeName, domain, port"
  ],
  [
    "POST",
    "/api/platform/routes",
    { routeName: "a b", domain: "a_b", port: "80" },
    400,
    "routeName must be letters, digits, \"_\" and \"-\", and start with a letter or digit; domain must be a host name like app.example.com; port must be a whole number from 1 to 65535"
  ],
  ["DELETE", "/api/platform/routes", { route: "a" }, 400, "route is not a known field. Known fields: routeName"],
  ["POST", "/api/platform/drift", { projectPath: "" }, 400, "projectPath must not be empty"],
  [
    "POST",
    "/api/platform/drift",
    { projectPath: "ROOT/list-platform" },
    422,
    "ROOT/list-platform/platform.json:1:2: entry 1 is not an object"
  ],
  [
    "POST",
    "/api/platform/drift",
    { projectPath: "ROOT/wrong-platform" },
    422,
    "ROOT/wrong-platform/platform.json:1:46: entry 1 (\"shop\"): buildpack must be composestack, autopack or imagefile; port must be a whole number from 1 to 65535"
  ],
  [
    "POST",
    "/api/platform/upsert",
    { projectPath: "ROOT/bare" },
    500,
    "No project file found: \"ROOT/bare\" has no platform.json, or an empty one. Check that this is the project's directory (upsert stopped at config)"
  ],
  ["POST", "/api/platform/webhooks/setup", { app: "shop" }, 400, "app is not a known field. Known fields: appName"],
  ["GET", "/api/platform/config", undefined, 400, "path is missing"],
  [
    "GET",
    "/api/platform/config?pth=/x",
    undefined,
    400,
    "path is missing. pth is not a known query parameter. Did you mean \"path\"? Known query parameters: path"
  ],
  [
    "GET",
    "/api/platform/config?path=ROOT/bare",
    undefined,
    200,
    "No platform.json found in \"ROOT/bare\": path is the absolute path of the project's directory"
  ],
  ["GET", "/api/deploy", undefined, 404, "No such endpoint: GET /api/deploy. See /reference for what there is"]
]

describe("an endpoint", () => {
  it.scopedLive("refuses what it does not know, in its body and in its query", () =>
    Effect.gen(function*() {
      const { request } = yield* startService(yield* settingsFileWith(mistakenSettings))
      const parts = { path: { id: "1", uuid: "x", name: "x" } }
      const takesBody = ({ fields }: Operation) => fields.some(([place]) => place === "body")
      // Of an endpoint that takes both, the body is judged first.
      const needed: Readonly<Record<string, object>> = { "PATCH /api/settings": { settings: {} } }
      const isOpen = ({ fields }: Operation) => fields.some((field) => field.join(".") === "body.anything")
      const cases = operations.flatMap((operation) => [
        { operation, query: { zzz: "1" }, body: takesBody(operation) ? { ...needed[operation.name] } : undefined },
        ...(takesBody(operation) && !isOpen(operation) ? [{ operation, query: {}, body: { zzz: 1 } }] : [])
      ])
      const refusesAll = operations.filter((operation) => operation.method !== "GET" && !takesBody(operation))
      cases.push(...refusesAll.map((operation) => ({ operation, query: {}, body: { zzz: 1 } })))
      const answers = yield* Effect.forEach(cases, ({ body, operation, query }) =>
        Effect.map(
          request(operation.method, addressOf(operation, { ...parts, query }), body),
          ({ status, text }) =>
            status === 400 && /zzz is not a known (field|query parameter)/.test(text)
              ? []
              : [`${operation.name} ${JSON.stringify({ query, body })}: ${status} ${text}`]
        ))
      expect(answers.flat()).toEqual([])
    }), { timeout: 60_000 * patience })
})

describe("a mistake", () => {
  it.scopedLive.skipIf(process.platform === "win32")(
    "is short where a server repeats what was sent",
    () =>
      Effect.gen(function*() {
        const { serverId, settingsFile } = yield* makeWorld
        const { request } = yield* startService(settingsFile)
        const { status, text } = yield* request("GET", `/api/servers/${serverId}/logs?remotePath=~/${"x".repeat(900)}`)
        expect([status, text]).toEqual([500, expect.stringMatching(/^\{"error":"Failed to get logs: .*xxx…xxx/)])
        expect(text).not.toContain("x".repeat(301))
      }),
    { timeout: 60_000 * patience }
  )

  it.scopedLive("is answered with one sentence that a person can act on", () =>
    Effect.gen(function*() {
      const root = yield* brokenProjects
      const { request } = yield* startService(yield* settingsFileWith(mistakenSettings))
      const put = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replaceAll("ROOT", root))
      const answers = yield* Effect.forEach(
        mistakes,
        ([method, path, body]) =>
          request(
            method,
            path.replaceAll("ROOT", root),
            body === undefined ? undefined : typeof body === "string" ? body : put(body)
          ),
        { concurrency: 4 }
      )
      const said = answers.map(({ body, status }) => [status, JSON.stringify(body).replaceAll(root, "ROOT")])
      const wanted = mistakes.map(([, , , status, error]) => [status, JSON.stringify({ error })])
      expect(said).toEqual(wanted)
      for (const { text } of answers) {
        expect(unplainWords(text)).toBeUndefined()
        expect(text).not.toContain(refusedSecret)
        expect(text.length).toBeLessThan(900)
        expect(text).not.toContain("x".repeat(301))
      }
    }), { timeout: 60_000 * patience })
})
