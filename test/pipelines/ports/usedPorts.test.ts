import { describe, expect, it } from "@effect/vitest"
import { namesPort, parseHostPorts } from "../../../src/pipelines/applications/applications.ts"
import { listUsedPorts } from "../../../src/pipelines/ports.ts"

const urls = (...all: ReadonlyArray<string>) => all.map((url) => `          - url: "${url}"`).join("\n")

describe("usedPorts", () => {
  it.each<[string, string, string | undefined, ReadonlyArray<number>]>([
    ["ascending, once each", urls("http://10.0.0.1:2010", "http://10.0.0.1:2007", "http://10.9.9.9:2010"), undefined, [
      2007,
      2010
    ]],
    [
      "private addresses only",
      urls(
        "http://172.16.0.1:1",
        "http://172.31.255.255:2",
        "http://192.168.0.0:3",
        "http://172.32.0.1:4",
        "http://8.8.8.8:5",
        "http://11.0.0.1:6",
        "http://127.0.0.1:7"
      ),
      undefined,
      [1, 2, 3]
    ],
    ["a subnet", urls("http://192.168.1.20:1", "http://192.168.2.20:2", "http://10.0.0.1:3"), "192.168.1.0/24", [1]],
    ["a subnet within octets", urls("http://10.1.2.127:1", "http://10.1.2.128:2"), "10.1.2.0/25", [1]],
    ["a subnet named by one of its hosts", urls("http://192.168.1.20:1"), "192.168.1.77/24", [1]],
    ["every address", urls("http://8.8.8.8:1", "http://255.255.255.255:2"), "0.0.0.0/0", [1, 2]],
    ["one address", urls("http://8.8.8.8:1", "http://8.8.8.9:2"), "8.8.8.8/32", [1]],
    ["whole numbers", urls("http://10.0.0.1:80", "http://10.0.0.1:8080", "http://10.0.0.1:65535/x"), undefined, [
      80,
      8080,
      65535
    ]],
    [
      "no port that is none",
      urls("http://10.0.0.1:0", "http://10.0.0.1:65536", "http://10.0.0.1:999999"),
      undefined,
      []
    ],
    [
      "no other URL",
      urls(
        "https://10.0.0.1:1",
        "http://app:2",
        "http://10.0.0.1",
        "http://10.0.0.256:3",
        "http://10.0.0:4",
        "10.0.0.1:5"
      ),
      undefined,
      []
    ],
    ["nothing of nothing", "", undefined, []],
    ["a file that is not valid YAML", "{{ range }}\n url: http://10.0.0.1:2007 : :", undefined, [2007]]
  ])("%s", (_, text, subnet, ports) => {
    expect(listUsedPorts(text, subnet)).toEqual(ports)
  })
})

describe("the ports that a value names", () => {
  it.each<[string, ReadonlyArray<number>]>([
    ["2044", [2044]],
    ["  2046 ", [2046]],
    ["\"2044\"", [2044]],
    ["'2044'", [2044]],
    ["\" 2044 \"", [2044]],
    ["2047-2049", [2047, 2048, 2049]],
    ["2049-2047", [2049]],
    ["127.0.0.1:2044", [2044]],
    ["[::1]:2044", [2044]],
    ["0.0.0.0:2044-2045:80-81", [2044, 2045]],
    ["2044:3000", [2044]],
    ["2051/tcp", [2051]],
    ["65534-70000", [65534, 65535]],
    ["", []],
    ["\"\"", []],
    ["0", []],
    ["-1", []],
    ["65536", []],
    ["99999999999999999999", []],
    ["{{environment.PORT}}", []],
    ["abc", []]
  ])("%j", (value, ports) => {
    expect(parseHostPorts(value)).toEqual(ports)
  })
})

describe("a value that names a port", () => {
  it.each([
    ["2044", true],
    ["127.0.0.1:2044", true],
    ["'2044'", true],
    ["2044/tcp", true],
    ["2044-2045", false],
    ["2045", false],
    ["", false]
  ])("%j names 2044 alone: %s", (value, is) => {
    expect(namesPort(value, 2044)).toBe(is)
  })

  it("names no more than a thousand ports", () => {
    expect(parseHostPorts("1-65535").length).toBe(1_000)
  })
})
