import { Option } from "effect"
import { describe, expect, it } from "vitest"
import { maskComposeValues } from "../../../src/pipelines/projects/redactCompose.ts"

const shown = (text: string) => Option.getOrUndefined(maskComposeValues(text))

describe("a compose file without values", () => {
  it("hides values that are commented out, wherever a comment may stand", () => {
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
    const kept = ["see https://example.com, and port 80 # of the host", "web#TAG=1", "b#B=1]", "HOST_PORT=2008", "#C=1"]
    for (const words of kept) expect(result).toContain(words)
    expect(result?.split("\n")).toHaveLength(text.split("\n").length - 1)
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
    expect(shown(text)).toBe(`# A stack
x-common: &common   # for all
  environment: &words
    WORD: ***
    QUOTED: ***
    SINGLE: ***
    BLOCK: ***
    FOLDED: ***
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

  it("shows options of a driver that are no credentials, and comments of other lines", () => {
    const text = "volumes:\n  v: # a note\n    driver_opts: { o: \"addr=1.2.3.4,password=${PW},ro\" } # another\n"
    expect(shown(text)).toBe(text)
  })
})
