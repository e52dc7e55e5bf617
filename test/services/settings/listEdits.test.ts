import { describe, expect, it } from "@effect/vitest"
import { FastCheck as fc, Option } from "effect"
import { parse } from "yaml"
import { editList, ListEdit } from "../../../src/services/settings/listEdits.ts"
import type { Fields } from "../../../src/services/settings/yamlSplices.ts"
import { inPart } from "../../fixtures/thorough.ts"

const fields: Fields = { id: "9", name: "New", host: "10.0.0.9", port: 22, username: "deployer", useSudo: false }
const added = [
  "- id: \"9\"",
  "  name: New",
  "  host: 10.0.0.9",
  "  port: 22",
  "  username: deployer",
  "  useSudo: false"
]
const item = (indent: string, eol = "\n") => added.map((line) => indent + line).join(eol)
const flow = "{ id: \"9\", name: New, host: 10.0.0.9, port: 22, username: deployer, useSudo: false }"
const json =
  "{ \"id\": \"9\", \"name\": \"New\", \"host\": \"10.0.0.9\", \"port\": 22, \"username\": \"deployer\", \"useSudo\": false }"

const add = (text: string, values = fields) => editList(text, "servers", ListEdit.Add({ fields: values }))
const change = (text: string, index: number, values: Parameters<typeof ListEdit.Change>[0]["fields"]) =>
  editList(text, "servers", ListEdit.Change({ index, fields: values }))
const remove = (text: string, index: number) => editList(text, "servers", ListEdit.Remove({ index }))

describe("adding a server", () => {
  const cases: ReadonlyArray<readonly [what: string, before: string, after: string]> = [
    ["an empty file", "", `servers:\n${item("  ")}\n`],
    ["a byte order mark alone", "\ufeff", `\ufeffservers:\n${item("  ")}\n`],
    ["comments alone", "# mine\n\n", `# mine\n\nservers:\n${item("  ")}\n`],
    ["a file without servers", "http:\n  hosts: []\n# end\n", `http:\n  hosts: []\n# end\nservers:\n${item("  ")}\n`],
    ["no final line break", "http:\n  token: x", `http:\n  token: x\nservers:\n${item("  ")}`],
    ["an indented root", "  token: x\n", `  token: x\n  servers:\n${item("    ")}\n`],
    ["a document end", "---\ntoken: x\n...\n# bye\n", `---\ntoken: x\nservers:\n${item("  ")}\n...\n# bye\n`],
    ["an empty list", "servers: []  # none\nhttp:\n", `servers:  # none\n${item("  ")}\nhttp:\n`],
    ["a spaced empty list", "servers:   [ ]\n", `servers:\n${item("  ")}\n`],
    ["an empty list with a comment in it", "servers: [ # none\n]\n", `servers: [${flow} # none\n]\n`],
    [
      "a null list",
      "servers:   # none\n  # - id: x\ntoken: x\n",
      `servers:   # none\n${item("  ")}\n  # - id: x\ntoken: x\n`
    ],
    ["a null list at the end", "token: x\nservers:", `token: x\nservers:\n${item("  ")}`],
    ["an explicit null", "servers: ~  # none\r\n", `servers:  # none\r\n${item("  ", "\r\n")}\r\n`],
    ["CRLF", "servers:\r\n- id: a\r\n", `servers:\r\n- id: a\r\n${item("", "\r\n")}\r\n`],
    ["another section behind", "servers:\n  - id: a\n\nhttp:\n", `servers:\n  - id: a\n${item("  ")}\n\nhttp:\n`],
    ["no final line break in the list", "servers:\n- id: a", `servers:\n- id: a\n${item("")}`],
    [
      "comments that belong to the last server",
      "servers:\n  - id: a\n    # password: x\n  # - id: b\n",
      `servers:\n  - id: a\n    # password: x\n${item("  ")}\n  # - id: b\n`
    ],
    [
      "a list with wide dashes",
      "servers:\n -   id: a\n     name: b\n",
      `servers:\n -   id: a\n     name: b\n${
        item("     ").replace("     - ", " -   ").replaceAll("\n       ", "\n     ")
      }\n`
    ],
    ["a block scalar last", "servers:\n- id: |\n    a\n\nhttp:\n", `servers:\n- id: |\n    a\n${item("")}\n\nhttp:\n`],
    ["a flow list", "servers: [{id: a}] # x\n", `servers: [{id: a}, ${flow}] # x\n`],
    [
      "a flow list with a server a line",
      "servers: [\r\n  {id: a},\r\n  {id: b},  # two\r\n]\r\n",
      `servers: [\r\n  {id: a},\r\n  {id: b},\r\n  ${flow},  # two\r\n]\r\n`
    ],
    ["a flow map in a block list", "servers:\n  - {id: a}\n", `servers:\n  - {id: a}\n${item("  ")}\n`],
    ["JSON", "{\"servers\": [], \"token\": \"x\"}", `{"servers": [${json}], "token": "x"}`],
    [
      "JSON with servers",
      "{\n  \"servers\": [\n    {\"id\": \"a\"}\n  ]\n}\n",
      `{\n  "servers": [\n    {"id": "a"},\n    ${json}\n  ]\n}\n`
    ],
    ["JSON without the list", "{\"token\": \"x\"}\n", `{"token": "x", "servers": [${json}]}\n`],
    ["an empty JSON object", "{}", `{"servers": [${json}]}`],
    ["JSON with a null list", "{\"servers\": null}", `{"servers": [${json}]}`],
    ["a flow map with an empty list name", "{servers: , token: x}", `{servers: [${flow}] , token: x}`]
  ]
  it.each(cases)("to %s", (_, before, after) => {
    expect(Option.getOrNull(add(before))).toBe(after)
  })

  const refusals: ReadonlyArray<readonly [what: string, text: string]> = [
    ["an anchor on the list that is used elsewhere", "servers: &list []\nother: *list\n"],
    ["a list that is an alias", "other: &list []\nservers: *list\n"],
    ["an explicit key", "? servers\n: - id: a\n"],
    ["a list on the line below", "servers:\n  []\n"],
    ["a list that is a map", "servers: {a: 1}\n"],
    ["a root that is a list", "- a\n"],
    ["a file that does not parse", "servers: [\n"],
    ["two documents", "a: 1\n---\nb: 2\n"],
    ["an unknown tag", "token: !vault x\n"],
    ["entries that are no servers", "servers: [a]\n"]
  ]
  it.each(refusals)("is refused for %s", (_, text) => {
    expect(Option.isNone(add(text))).toBe(true)
  })
})

describe("removing a server", () => {
  const three =
    "# top\nservers:\n  # one\n  - id: a\n    name: A # x\n\n  # two\n  -\n    id: b\n    key: |\n      x\n\n  - {id: c}\n# end"
  const cases: ReadonlyArray<readonly [what: string, before: string, index: number, after: string]> = [
    ["the first", three, 0, three.replace("  - id: a\n    name: A # x\n", "")],
    ["the middle", three, 1, three.replace("  -\n    id: b\n    key: |\n      x\n", "")],
    ["the last", three, 2, three.replace("  - {id: c}\n", "")],
    ["the only one", "a: 1\r\nservers:\r\n- id: x\r\n  name: y\r\nb: 2\r\n", 0, "a: 1\r\nservers:\r\nb: 2\r\n"],
    ["the last line", "servers:\n- id: a\n- id: b", 1, "servers:\n- id: a\n"],
    [
      "a comment inside goes too, one behind stays",
      "servers:\n- id: a\n  # in\n  name: b\n  # behind\n",
      0,
      "servers:\n  # behind\n"
    ],
    ["flow, first", "servers: [{id: a}, {id: b}]", 0, "servers: [{id: b}]"],
    ["flow, last", "servers: [{id: a}, {id: b}]", 1, "servers: [{id: a}]"],
    ["flow, only", "servers: [ {id: a} ] # x", 0, "servers: [  ] # x"],
    ["flow, a line each", "servers: [\n  {id: a},\n  {id: b},\n]\n", 0, "servers: [\n  {id: b},\n]\n"],
    ["flow, last of a line each", "servers: [\n  {id: a},\n  {id: b}\n]\n", 1, "servers: [\n  {id: a}\n]\n"],
    ["flow, last with a comma behind", "servers: [\n  {id: a},\n  {id: b},\n]\n", 1, "servers: [\n  {id: a},\n]\n"],
    [
      "flow, with comments",
      "servers: [\n  {id: a}, # one\n  {id: b} # two\n]\n",
      1,
      "servers: [\n  {id: a}, # one\n   # two\n]\n"
    ],
    ["JSON", "{\"servers\": [{\"id\": \"a\"}, {\"id\": \"b\"}]}", 1, "{\"servers\": [{\"id\": \"a\"}]}"]
  ]
  it.each(cases)("%s", (_, before, index, after) => {
    expect(Option.getOrNull(remove(before, index))).toBe(after)
  })

  it("is refused when something else refers to it", () => {
    expect(Option.isNone(remove("servers:\n- id: a\n  password: &pw x\ntoken: *pw\n", 0))).toBe(true)
    expect(Option.isNone(remove("servers: [&a {id: a}]\n", 0))).toBe(true)
  })
  it("is refused for a server that is not there", () => {
    expect(Option.isNone(remove("servers:\n- id: a\n", 1))).toBe(true)
  })
})

describe("changing a server", () => {
  const cases: ReadonlyArray<
    readonly [what: string, before: string, values: Parameters<typeof change>[2], after: string]
  > = [
    ["a value", "- name:   Main   # mine\r\n  id: a\r\n", { name: "Other" }, "- name:   Other   # mine\r\n  id: a\r\n"],
    ["a quoted value", "- id: 'a''b'\n", { id: "c" }, "- id: c\n"],
    [
      "an empty value",
      "- id: a\n  password:   # none\n",
      { password: "x y#" },
      "- id: a\n  password: \"x y#\"   # none\n"
    ],
    ["an empty value at the end", "- id: a\n  password:", { password: "x" }, "- id: a\n  password: x"],
    [
      "an empty value at the end, and a new field",
      "- id: a\n  port:",
      { port: 1, useSudo: true },
      "- id: a\n  port: 1\n  useSudo: true"
    ],
    ["a null", "- id: a\n  port: ~ # x\n", { port: 1 }, "- id: a\n  port: 1 # x\n"],
    [
      "a value of several lines",
      "- id: a\n  name: one\n    two\n  port: 1\n",
      { name: "b" },
      "- id: a\n  name: b\n  port: 1\n"
    ],
    [
      "a block scalar",
      "- id: a\n  passphrase: |- # x\n    one\n    two\n\n  port: 1\n",
      { passphrase: "b" },
      "- id: a\n  passphrase: b\n\n  port: 1\n"
    ],
    ["a new field", "- id: a\n  # own\n\n# not\n", { port: 1 }, "- id: a\n  port: 1\n  # own\n\n# not\n"],
    ["a new field behind a comment", "- id: a  # x\n", { port: 1 }, "- id: a  # x\n  port: 1\n"],
    ["a new field behind a block scalar", "- id: |\n    a\n", { port: 1 }, "- id: |\n    a\n  port: 1\n"],
    ["a new field under a wide dash", "-   id: a", { port: 1 }, "-   id: a\n    port: 1"],
    ["a new field under a dash alone", "-\n   id: a\n", { port: 1 }, "-\n   id: a\n   port: 1\n"],
    [
      "a cleared field",
      "- id: a\n  password: x  # mine\n  port: 1\n",
      { password: null },
      "- id: a\n  password:  # mine\n  port: 1\n"
    ],
    ["a cleared first field", "- password: \"x\"\n  id: a\n", { password: null }, "- password:\n  id: a\n"],
    [
      "a cleared block scalar",
      "- id: a\n  password: >-\r\n    x\r\n    y\r\n  port: 1\n",
      { password: null },
      "- id: a\n  password:\r\n  port: 1\n"
    ],
    [
      "a cleared value below its name",
      "- id: a\n  password:\n    x\n",
      { password: null },
      "- id: a\n  password:\n    null\n"
    ],
    [
      "a cleared field that is empty",
      "- id: a\n  password: ~\n",
      { password: null, passphrase: null },
      "- id: a\n  password: ~\n"
    ],
    [
      "a flow map",
      "- {id: a, password: 'x', port: 1 }\n",
      { password: null, port: 2, useSudo: true },
      "- {id: a, password: null, port: 2, useSudo: true }\n"
    ],
    [
      "a flow map with an empty value",
      "- {id: a, password: }\n",
      { password: "x", port: 2 },
      "- {id: a, password: x, port: 2 }\n"
    ],
    [
      "names in quotes",
      "- {\"id\":\"a\",\"port\":1}\n",
      { id: "b", useSudo: true },
      "- {\"id\":\"b\",\"port\":1, \"useSudo\": true}\n"
    ],
    [
      "an alias",
      "- id: a\n  name: &n x\n  password: *n\n",
      { password: "z" },
      "- id: a\n  name: &n x\n  password: z\n"
    ],
    ["a tagged value", "- id: a\n  password: !!str 12\n", { password: "13" }, "- id: a\n  password: !!str \"13\"\n"]
  ]
  it.each(cases)("%s", (_, before, values, after) => {
    const inFile = (list: string) => `# top\nservers:\n${list}`
    expect(Option.getOrNull(change(inFile(before), 0, values))).toBe(inFile(after))
  })

  it("is refused when something else refers to the old value", () => {
    expect(Option.isNone(change("servers:\n- id: a\n  password: &pw x\ntoken: *pw\n", 0, { password: "y" }))).toBe(true)
    expect(Option.isNone(change("servers:\n- id: a\n  port: !!int 1\n", 0, { port: "y" }))).toBe(true)
  })
})

// Any layout of a settings file, in pieces: what stands before a server, the server's own lines, what stands behind.
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.constantFrom(
    "",
    " a ",
    "a: b",
    "a # b",
    "'\"",
    "\\",
    "1e3",
    "0x1f",
    "null",
    "yes",
    "~",
    "- a",
    "{a}",
    "[",
    "*a",
    "&a",
    "!a"
  ),
  fc.constantFrom(
    "${env:PW}",
    "a\nb",
    "a\r\nb",
    "\t",
    "\u0085",
    "\u2028",
    "\ufeff",
    "😀",
    "\ud800",
    "%",
    "@",
    "`",
    "?",
    "---",
    "..."
  )
)
const flat = fc.string({ unit: fc.constantFrom(..."abcXYZ019_-. /") }).map((word) => `w${word.trimEnd()}`)
const writtenValue = fc.oneof(
  flat,
  flat.map((word) => `'${word}'`),
  text.map((word) =>
    JSON.stringify(word).replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`)
  ),
  fc.constantFrom(
    "",
    "~",
    "12",
    "007",
    "${env:PW}",
    "|\n        one\n         two",
    ">-\n        one\n\n        two",
    "one\n       two"
  )
)
const comment = fc.constantFrom("", "", "   # note", "  # a: b")
const names = ["id", "name", "host", "port", "username", "password", "passphrase", "useSudo"] as const
const server = fc.record({
  names: fc.shuffledSubarray([...names], { minLength: 1 }),
  values: fc.array(fc.tuple(writtenValue, comment), { minLength: names.length, maxLength: names.length }),
  inner: fc.constantFrom("", "", "    # inner\n", "\n")
})
const between = fc.constantFrom("", "", "\n", "  # between\n", "# far out\n\n", "    # deeper\n")
const layout = fc.record({
  bom: fc.constantFrom("", "\ufeff"),
  eol: fc.constantFrom("\n", "\r\n"),
  dash: fc.constantFrom("  - ", "  -\n    "),
  top: fc.constantFrom(
    "",
    "# top\n",
    "http:\n  hosts: [ a,  b ]  # aligned\n\n",
    "http:\n  hosts: [\n    a\n  ]\n",
    "token:   \"x\"\n# above\n"
  ),
  servers: fc.array(fc.tuple(between, server), { minLength: 1, maxLength: 4 }),
  bottom: fc.constantFrom(
    "",
    "\n",
    "\n# end\n",
    "deploy:\n  transfer:  full\n",
    "build:\n  timeout: 1 minute\n\n\n# end"
  ),
  cut: fc.boolean()
})

/** The pieces of a layout: at even places what no server owns, at odd places the lines of one server. */
const piecesOf = (
  { bom, bottom, cut, dash, eol, servers, top }: typeof layout extends fc.Arbitrary<infer L> ? L : never
) => {
  const pieces: Array<string> = [`${bom}${top}servers:\n`]
  for (const [above, { inner, names: order, values }] of servers) {
    pieces[pieces.length - 1] += above
    const lines = order.map((name, index) => {
      const [value, note] = values[index] ?? ["", ""]
      const head = value.split("\n").length > 1
        ? value.replace("\n", `${/^[|>]/.test(value) ? note : ""}\n`)
        : value + note
      return `${name}: ${head}\n${
        index === order.length - 1 || /^[|>]/.test(value) || /^\w.*\n/.test(value) ? "" : inner
      }`
    })
    pieces.push(dash + lines.join("    "), "")
  }
  pieces[pieces.length - 1] += bottom
  const whole = pieces.map((piece) => piece.replaceAll("\n", eol))
  const last = whole.length - 1
  // A file may end without a line break, in a comment or in the last server.
  const end = whole[last] === "" ? last - 1 : last
  return cut ? whole.with(end, (whole[end] ?? "").replace(/\r?\n$/, "")) : whole
}

const newValues = fc.record({
  id: text,
  name: fc.option(text),
  port: fc.option(fc.integer({ min: 1, max: 65535 })),
  password: fc.option(text),
  useSudo: fc.boolean()
}, { requiredKeys: [] })

const serversOf = (yaml: string): ReadonlyArray<Record<string, unknown>> => parse(yaml).servers ?? []
const filled = (values: object) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null))
const without = (yaml: string) => ({ ...parse(yaml), servers: undefined })
const runs = { numRuns: inPart(200, 20) }

describe("whatever the layout", () => {
  it("adding keeps every byte and inserts one server", () => {
    fc.assert(
      fc.property(layout, newValues, (shape, values) => {
        const pieces = piecesOf(shape)
        const before = pieces.join("")
        const after = Option.getOrThrow(add(before, { id: "x", ...filled(values) }))
        const head = pieces.slice(0, -1).join("")
        expect(after.startsWith(head)).toBe(true)
        let kept = head.length
        while (kept < before.length && after[kept] === before[kept]) kept += 1
        const tails = Array.from({ length: kept + 1 - head.length }, (_, index) => before.slice(head.length + index))
        expect(tails.some((tail) => after.endsWith(tail))).toBe(true)
        expect(serversOf(after)).toEqual([...serversOf(before), { id: "x", ...filled(values) }])
        expect(without(after)).toEqual(without(before))
        expect(after.endsWith("\n")).toBe(before.endsWith("\n"))
        expect(shape.eol === "\r\n" && /[^\r]\n/.test(after)).toBe(false)
      }),
      runs
    )
  })

  it("removing takes just the lines of one server", () => {
    fc.assert(
      fc.property(layout, fc.nat(), (shape, pick) => {
        const pieces = piecesOf(shape)
        const before = pieces.join("")
        const index = pick % shape.servers.length
        const after = Option.getOrThrow(remove(before, index))
        expect(after).toBe(pieces.toSpliced(2 * index + 1, 1).join(""))
        expect(serversOf(after)).toEqual(serversOf(before).filter((_, at) => at !== index))
      }),
      runs
    )
  })

  it("changing touches only the lines of the fields that change", () => {
    fc.assert(
      fc.property(layout, fc.nat(), newValues, (shape, pick, values) => {
        const pieces = piecesOf(shape)
        const before = pieces.join("")
        const index = pick % shape.servers.length
        const after = Option.getOrThrow(change(before, index, values))
        const head = pieces.slice(0, 2 * index + 1).join("")
        const tail = pieces.slice(2 * index + 2).join("")
        expect(after.startsWith(head)).toBe(true)
        expect(after.endsWith(tail)).toBe(true)
        const own = after.slice(head.length, after.length - tail.length)
        for (const line of (pieces[2 * index + 1] ?? "").split(/\r?\n/)) {
          const name = /^ *(?:- )?(\w+):/.exec(line)?.[1]
          if (name !== undefined && !(name in values)) expect(own.split(/\r?\n/)).toContain(line)
        }
        expect(serversOf(after).map(filled)).toEqual(
          serversOf(before).map((old, at) => filled(at === index ? { ...old, ...values } : old))
        )
        expect(without(after)).toEqual(without(before))
      }),
      runs
    )
  })
})

describe("tokens, in a section", () => {
  const token: Fields = { name: "Ann", token: "t0ken", role: "viewer" }
  const lines = (indent: string) =>
    [`${indent}- name: Ann`, `${indent}  token: t0ken`, `${indent}  role: viewer`].join("\n")
  const inFlow = "{ name: Ann, token: t0ken, role: viewer }"
  const asJson = "{ \"name\": \"Ann\", \"token\": \"t0ken\", \"role\": \"viewer\" }"
  const cases: ReadonlyArray<readonly [what: string, before: string, after: string]> = [
    ["an empty file", "", `http:\n  tokens:\n${lines("    ")}\n`],
    ["comments alone", "# mine\n", `# mine\nhttp:\n  tokens:\n${lines("    ")}\n`],
    ["a file without the section", "token: x\n# end", `token: x\n# end\nhttp:\n  tokens:\n${lines("    ")}`],
    ["an indented root", "  token: x\n", `  token: x\n  http:\n    tokens:\n${lines("      ")}\n`],
    ["an empty section", "http:  # who\ntoken: x\n", `http:  # who\n  tokens:\n${lines("    ")}\ntoken: x\n`],
    ["a null section", "http: ~ # who\ntoken: x\n", `http: # who\n  tokens:\n${lines("    ")}\ntoken: x\n`],
    ["an empty flow section", "http: {}\n", `http: { tokens: [${inFlow}] }\n`],
    ["an empty flow section with a comment", "http: { # who\n}\n", `http: { tokens: [${inFlow}] # who\n}\n`],
    [
      "a section with other settings",
      "http:\n    token: x # own\n\n# servers\nservers: []\n",
      `http:\n    token: x # own\n    tokens:\n${lines("      ")}\n\n# servers\nservers: []\n`
    ],
    ["a section that ends the file", "http:\n  token: x", `http:\n  token: x\n  tokens:\n${lines("    ")}`],
    ["a flow section", "http: { hosts: [a.example] }\n", `http: { hosts: [a.example], tokens: [${inFlow}] }\n`],
    ["an empty list", "http:\n  tokens: [] # none\n", `http:\n  tokens: # none\n${lines("    ")}\n`],
    [
      "a list with others",
      "http:\n  tokens:\n  - {name: B, token: b, role: operator} # second\n  hosts: []\n",
      `http:\n  tokens:\n  - {name: B, token: b, role: operator} # second\n${lines("  ")}\n  hosts: []\n`
    ],
    ["JSON without the section", "{\"token\": \"x\"}\n", `{"token": "x", "http": { "tokens": [${asJson}] }}\n`],
    ["an empty JSON object", "{}", `{"http": { "tokens": [${asJson}] }}`],
    ["JSON with an empty section", "{\"http\": {}}", `{"http": { "tokens": [${asJson}] }}`],
    ["JSON with a null section", "{\"http\": null}", `{"http": { "tokens": [${asJson}] }}`],
    ["JSON with the section", "{\"http\": {\"hosts\": []}}", `{"http": {"hosts": [], "tokens": [${asJson}]}}`]
  ]
  it.each(cases)("are added to %s", (_, before, after) => {
    const result = editList(before, "tokens", ListEdit.Add({ fields: token }))
    expect(Option.getOrNull(result)).toBe(after)
    const added: unknown = parse(Option.getOrThrow(result))
    expect(added).toMatchObject({ http: { tokens: expect.arrayContaining([token]) } })
  })

  it.each([
    ["a section of another kind", "http: 5\n"],
    ["a list of another kind", "http:\n  tokens: 5\n"],
    ["a section behind an alias", "x: &x {token: y}\nhttp: *x\n"],
    ["a merged section", "x: &x {token: y}\nhttp: {<<: *x}\n"]
  ])("leave %s alone or keep its content", (_, before) => {
    const result = editList(before, "tokens", ListEdit.Add({ fields: token }))
    if (Option.isSome(result)) expect(parse(result.value, { merge: true })).toMatchObject({ http: { tokens: [token] } })
  })

  it("are removed, and their neighbours stay", () => {
    const text = "http:\n  tokens:\n    # first\n    - name: A\n      token: a\n    - {name: B}\n  hosts: []\n"
    expect(Option.getOrNull(editList(text, "tokens", ListEdit.Remove({ index: 1 })))).toBe(
      "http:\n  tokens:\n    # first\n    - name: A\n      token: a\n  hosts: []\n"
    )
    expect(Option.getOrNull(editList("http: {tokens: [{name: A}]}", "tokens", ListEdit.Remove({ index: 0 })))).toBe(
      "http: {tokens: []}"
    )
    expect(editList("token: x\n", "tokens", ListEdit.Remove({ index: 0 }))).toEqual(Option.none())
  })
})
