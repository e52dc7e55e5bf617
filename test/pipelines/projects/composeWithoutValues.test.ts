import { Option } from "effect"
import { describe, expect, it } from "vitest"
import { composeWithoutValues } from "../../../src/pipelines/projects/composeWithoutValues.ts"

const shown = (text: string) => Option.getOrUndefined(composeWithoutValues(text))

describe("a compose file without values", () => {
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
})
