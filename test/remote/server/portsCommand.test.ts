import { describe, expect, it } from "@effect/vitest"
import { parsePorts } from "../../../src/remote/server.ts"

describe("parsePorts", () => {
  it("reads the kernel's addresses, whose words stand the wrong way round", () => {
    const output = [
      "socket|0100007F:07D7",
      "socket|00000000:0016",
      `socket|${"0".repeat(32)}:1F90`,
      `socket|${"0".repeat(24)}01000000:1F91`,
      "socket|0000000000000000FFFF00000101A8C0:1F92",
      "socket|B80D0120000000000000000001000000:1F93"
    ].join("\n")
    expect(parsePorts(output).ports.map(({ port, what }) => [port, what])).toEqual([
      [2007, "127.0.0.1:2007"],
      [22, "0.0.0.0:22"],
      [8080, "[::]:8080"],
      [8081, "[::1]:8081"],
      [8082, "192.168.1.1:8082"],
      [8083, "[2001:0db8:0000:0000:0000:0000:0000:0001]:8083"]
    ])
  })

  it("reads netstat's addresses, of Linux and of the BSDs", () => {
    expect(parsePorts("socket|127.0.0.1:2007\nsocket|*.2008\nsocket|::1.2009\n").ports).toEqual([
      { port: 2007, kind: "socket", what: "127.0.0.1:2007" },
      { port: 2008, kind: "socket", what: "*.2008" },
      { port: 2009, kind: "socket", what: "::1.2009" }
    ])
  })

  it("reads what Docker publishes, ranges too, and not what a container merely exposes", () => {
    const ports = "0.0.0.0:2008->80/tcp, [::]:2008->80/tcp, 0.0.0.0:3000-3002->90-92/tcp, 443/tcp"
    expect(parsePorts(`container|web|${ports}\ncontainer|quiet|\n`).ports).toEqual(
      [2008, 2008, 3000, 3001, 3002].map((port) => ({ port, kind: "container", what: "web" }))
    )
  })

  it("takes nothing else for a port", () => {
    const output = "socket|\nsocket|x:0\nsocket|1.2.3.4:99999\nsocket|00000000:0000\ncontainer|a|:70000->1\n\nnoise"
    expect(parsePorts(output)).toEqual({ ports: [], unread: [] })
  })

  it("says what could not be told", () => {
    expect(parsePorts("unread|containers|permission denied | sorry\n").unread).toEqual([
      "containers: permission denied | sorry"
    ])
  })
})
