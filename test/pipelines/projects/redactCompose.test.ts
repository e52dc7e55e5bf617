import { Option } from "effect"
import { describe, expect, it } from "vitest"
import { maskComposeValues } from "../../../src/pipelines/projects/redactCompose.ts"

const shown = (text: string) => Option.getOrUndefined(maskComposeValues(text))

describe("a compose file without values", () => {
  it("masks comments, wherever one may stand", () => {
    const text = [
      "#WORD=canary",
      "# A stack: see https://example.com, and port 80 # of the host",
      "services: # password: canary",
      "  web:",
      "    image: \"web#TAG=1\"",
      "    command: [a, # - OTHER=canary",
      "      b#B=1]",
      "    environment:",
      "      #- DB_PASSWORD=canary canary",
      "      # DB_PASSWORD: canary",
      "      # \"DB_PASSWORD\": \"canary\"",
      "      #   - 'A=canary'\r",
      "      # HOST_PORT=2008",
      "      A: | # B=canary",
      "        # canary of a block",
      "    labels:",
      "      - >- # api_key : canary",
      "        #C=1",
      "    ? x # E = canary",
      "    : y",
      ""
    ].join("\n")
    const result = shown(text)
    expect(result).not.toContain("canary")
    for (const words of ["web#TAG=1", "[a, #", "#C=1"]) expect(result).toContain(words)
    expect(result).not.toMatch(/example|HOST_PORT|b#B/)
    expect(result?.split("\n")).toHaveLength(text.split("\n").length)
    expect(shown(result ?? "")).toBe(result)
  })

  it("reads a long comment once", () => {
    for (const piece of ["a", "a ", "a: ", " ", "a.", "a\"", "= "]) {
      const started = performance.now()
      shown(`# ${piece.repeat(200_000 / piece.length)}\nservices: {}\n`)
      expect([piece, performance.now() - started < 2_000]).toEqual([piece, true])
    }
  })

  it("keeps every other letter", () => {
    const text = `# A stack
x-common: &common   # for all
  environment: &words
    WORD: canary
    QUOTED: "canary \\" canary"
    SINGLE: 'canary'
    BLOCK: |
      canary
      canary
    FOLDED: >-
      canary
    AGAIN: &again canary
    NUMBER: 7
    FLAG: true
    EMPTY:
    NONE: ""
    NAMED: \${NAMED}
    OTHERWISE: \${NAMED:-canary}
    HOST_PORT: 2008
services:
  web:
    <<: *common
    image: web:latest
    build: { context: ., args: [A=canary, "B=canary", C, D=$D, HOST_PORT=1] }
    ports: ["\${HOST_PORT}:8080"]
  api:
    environment:
      - WORD=canary
      - 'QUOTED=canary'
      - PASSED_ON
    labels:
      - traefik.enable=true
      - traefik.http.middlewares.a.basicauth.users=ann:canary
      - "com.example.token=canary"
configs:
  a: { content: canary }
secrets:
  db_password: { file: ./db.txt }
`
    expect(shown(text)).toBe(`# ***
x-common: &common   # ***
  environment: &words
    WORD: ***
    QUOTED: ***
    SINGLE: ***
    BLOCK: |
      ***
      ***
    FOLDED: >-
      ***
    AGAIN: &again ***
    NUMBER: ***
    FLAG: true
    EMPTY:
    NONE: ""
    NAMED: \${NAMED}
    OTHERWISE: ***
    HOST_PORT: 2008
services:
  web:
    <<: *common
    image: web:latest
    build: { context: ., args: [A=***, "B=***", C, D=$D, HOST_PORT=1] }
    ports: ["\${HOST_PORT}:8080"]
  api:
    environment:
      - WORD=***
      - 'QUOTED=***'
      - PASSED_ON
    labels:
      - traefik.enable=true
      - traefik.http.middlewares.a.basicauth.users=***
      - "com.example.token=***"
configs:
  a: { content: *** }
secrets:
  db_password: { file: ./db.txt }
`)
  })

  it.each([
    "x-words: &words\n  WORD: canary\nservices: { web: { environment: *words } }",
    "x-words: &words\n  WORD: canary\nservices: { web: { environment: { <<: *words } } }",
    "x-words: &words { WORD: canary }\nx-more: &more { <<: *words }\nservices: { web: { environment: { <<: [*more] } } }",
    "x-word: &word canary\nservices: { web: { environment: { WORD: *word } } }",
    "x-list: &list [A=canary]\nservices: { web: { environment: *list } }",
    "services: { web: { environment: { DEEP: { A: { B: canary } } } } }",
    "x-any: { MYSQL_ROOT_PASSWORD: canary, apiToken: canary }",
    "services: { web: { environment: { ? A : canary } } }",
    "services:\r\n  web:\r\n    environment:\r\n      A: |\r\n        canary\r\n"
  ])("shows no value of %j", (text) => {
    expect(shown(text)).not.toContain("canary")
    expect(shown(text)).toContain("***")
  })

  it.each(["services: {", "a: 1\na: 2", "\tenvironment: canary"])("is nothing where nobody knows: %j", (text) => {
    expect(shown(text)).toBeUndefined()
  })

  it.each([
    "services:\n  web:\n    ? &e environment\n    : { A: 1 }\n  db:\n    *e : { B: canary }\n",
    "x-k: &e environment\nservices:\n  db:\n    *e :\n      B: canary\n",
    "services:\n  db:\n    environment: !!omap [ B: canary, C: canary ]\n",
    "services:\n  db:\n    environment: !!omap\n      - B: canary\n",
    "services:\n  db:\n    environment: !!pairs [ B: canary ]\n",
    "services:\n  db:\n    environment:\n      B: now # canary\n      C: also # was canary before\n",
    "services:\n  db:\n    environment:\n      - B=now # canary\n",
    "volumes:\n  v:\n    driver_opts: { type: cifs, o: \"addr=1.2.3.4,username=u,password=canary\" }\n",
    "volumes:\n  v:\n    driver_opts:\n      o: addr=h,password=canary,ro\n",
    "services:\n  db:\n    command: [--user=u, --password=canary]\n",
    "services:\n  db:\n    command: server --password=canary\n"
  ])("hides the value in %j", (text) => {
    expect(shown(text)).toBeDefined()
    expect(shown(text)).not.toContain("canary")
  })

  it.each([
    ["command: redis-server --requirepass canary", "command: redis-server ***"],
    ["command: 'redis-server --requirepass canary'", "command: 'redis-server ***'"],
    ["command: \"redis-server\\x20canary\"", "command: ***"],
    [
      "command: [redis-server, --requirepass, canary, $PASSWORD, true, 1]",
      "command: [redis-server, ***, ***, $PASSWORD, true, ***]"
    ],
    ["command: [sh -c canary]", "command: [sh ***]"],
    [
      "command:\n  - redis-server # canary\n  - &a \"canary\\\n    canary\"\n",
      "command:\n  - redis-server # ***\n  - &a \"***\n    ***\"\n"
    ],
    ["command: >-\n  redis-server\n  --requirepass canary\n", "command: >-\n  redis-server\n  ***\n"],
    ["command: redis-server\n  --requirepass canary", "command: redis-server\n  ***"],
    ["command: -pcanary", "command: ***"],
    ["command: PW=canary server", "command: ***"],
    ["command: [--requirepass=canary]", "command: [***]"],
    ["command: [redis-server, --requirepass: canary]", "command: [redis-server, --requirepass: ***]"],
    ["command: [redis-server, -p canary: now]", "command: [redis-server, ***: ***]"],
    ["command: { canary one: }", "command: { ***: }"],
    ["entrypoint: [redis-server, --requirepass]\ncommand: [canary]", "entrypoint: [redis-server, ***]\ncommand: [***]"],
    ["entrypoint: sh -c \"export PW=canary; serve\"", "entrypoint: sh ***"],
    ["entrypoint: [sh, -c, \"export PW=canary\"]", "entrypoint: [sh, ***, ***]"],
    [
      "healthcheck: { test: [CMD, mysqladmin, ping, -pcanary], retries: 3 }",
      "healthcheck: { test: [CMD, ***, ***, ***], retries: 3 }"
    ],
    ["healthcheck: { test: mysqladmin ping -pcanary || exit 1 }", "healthcheck: { test: mysqladmin *** }"],
    [
      "post_start: [{ command: [sh, -c, canary], user: root }]",
      "post_start: [{ command: [sh, ***, ***], user: root }]"
    ],
    ["pre_stop:\n  - command: ./bye.sh canary\n", "pre_stop:\n  - command: ./bye.sh ***\n"],
    [
      "develop: { watch: [{ action: sync+exec, exec: { command: sh canary } }] }",
      "develop: { watch: [{ action: sync+exec, exec: { command: sh *** } }] }"
    ],
    ["runtime: runc --key canary", "runtime: runc ***"],
    [
      "provider: { type: cloud, options: { size: [canary], on: true } }",
      "provider: { type: cloud, options: { size: [***], on: true } }"
    ],
    ["x-run: &run [serve, canary]\ncommand: *run", "x-run: &run [serve, ***]\ncommand: *run"],
    ["x-a: &a password=canary b canary\nenvironment: { A: *a }", "x-a: &a ***\nenvironment: { A: *a }"],
    ["x-a: &a canary\nlabels: { token: *a }", "x-a: &a ***\nlabels: { token: *a }"],
    ["x-a: [&a canary]\nenvironment: { A: *a }", "x-a: [&a ***]\nenvironment: { A: *a }"],
    ["x-a: &a [A=canary]\ncommand: *a\nenvironment: *a", "x-a: &a [***]\ncommand: *a\nenvironment: *a"],
    ["build: { dockerfile_inline: \"RUN canary\" }", "build: { dockerfile_inline: *** }"],
    ["build: https://u:canary@h/x.git", "build: https://***@h/x.git"],
    ["build: { context: \"https:\\/\\/u:canary@h/x.git\" }", "build: { context: *** }"],
    ["labels: { at: 'http://u:ca@nary/canary@h' }", "labels: { at: 'http://***@h' }"],
    ["labels: [\"at=http://u:canary@h\", also=http://canary@h]", "labels: [\"at=http://***@h\", also=http://***@h]"],
    ["labels: { http://u:canary@h: on }", "labels: { http://***@h: on }"],
    [
      "logging: { options: { syslog-address: \"tcp://u:canary@h:1\" } }",
      "logging: { options: { syslog-address: \"tcp://***@h:1\" } }"
    ],
    ["image: ${IMAGE:-http://u:canary@h}", "image: ${IMAGE:-http://***@h}"],
    ["labels: { at: \"x ${DB_PASSWORD:-${A:-canary}} y\" }", "labels: { at: \"x ${DB_PASSWORD:-***} y\" }"],
    ["labels: { a: 'one: 1, Authorization: Basic canary' }", "labels: { a: 'one: 1, Authorization: ***' }"],
    ["labels: { a: '{\"password\":\"canary\"}' }", "labels: { a: '{\"password\":***' }"],
    ["labels: { x-api-key: canary, db.pass: canary }", "labels: { x-api-key: ***, db.pass: *** }"],
    ["labels: [\"db.pass=canary, canary\"]", "labels: [\"db.pass=***\"]"],
    [
      "labels: { o: \"mode=password=canary,password=*canary,ro\" }",
      "labels: { o: \"mode=password=***,password=***,ro\" }"
    ],
    ["# the old password was canary\nservices: {} # canary", "# ***\nservices: {} # ***"]
  ])("masks %j in its lines", (text, masked) => {
    expect(shown(text)).toBe(masked)
    expect(masked).not.toContain("canary")
    expect(masked.split("\n")).toHaveLength(text.split("\n").length)
  })

  it("shows addresses, options and names that are no credentials", () => {
    const text = `services:
  web:
    image: registry.test/web@sha256:0123
    build: ssh://git@git.test/web.git
    command: serve
    ports: ["127.0.0.1:80:80"]
    labels: { at: "https://web.test/x?y=1", db: "pg://\${USER}:\${PASSWORD}@db" }
    secrets: [db_password]
  command:
    image: web:1
  test:
    entrypoint: ./start.sh
    image: test:\${TAG:-latest}
volumes:
  v:
    driver_opts: { o: "addr=1.2.3.4,password=\${PW},ro" }
`
    expect(shown(text)).toBe(text)
  })

  it("reads a long text once", () => {
    for (const piece of ["a=", "a: ", "://", "@", "${", "${pw:-", "password=", "password=\"", "'", "} "]) {
      const started = performance.now()
      shown(`a: |\n  ${piece.repeat(200_000 / piece.length)}\n`)
      expect([piece, performance.now() - started < 20_000]).toEqual([piece, true])
    }
  })
})
