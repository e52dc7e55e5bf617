import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { type KnownProject, listProjectUrls, parsePublishedPorts } from "../../../../src/pipelines/overview/projects.ts"

const project: KnownProject = {
  name: "shop",
  path: "/srv/shop",
  hasImageFile: true,
  hasComposeFile: true,
  hasPlatformJson: false,
  containerStatus: "configured",
  tarFile: null,
  serverId: "1",
  remotePath: "~/containers/shop",
  problems: [],
  declared: Either.right([]),
  observedAt: "2026-01-02T03:04:05.678Z"
}
const urls = (
  ports: ReadonlyArray<string>,
  host = "203.0.113.5",
  routed: ReadonlyArray<{ readonly domain: string; readonly target: string }> = [],
  hosts: ReadonlyArray<string> = [host]
) => listProjectUrls(project, { applications: [], hosts, ports, routed, server: { host } })

describe("published ports", () => {
  it("are those of Docker's words, ranges too, of TCP alone", () => {
    expect(
      parsePublishedPorts(["0.0.0.0:2000->80/tcp", "[::]:2000->80/tcp", ":::2001->81/tcp"]).map(({ port }) => port)
    )
      .toEqual([2000, 2000, 2001])
    expect(parsePublishedPorts(["127.0.0.1:8000-8002->9000-9002/tcp"])).toEqual([
      { address: "127.0.0.1", port: 8000, containerPort: 9000 },
      { address: "127.0.0.1", port: 8001, containerPort: 9001 },
      { address: "127.0.0.1", port: 8002, containerPort: 9002 }
    ])
    expect(parsePublishedPorts(["53/udp", "80/tcp", "0.0.0.0:53->53/udp", "<b>:1->2/tcp x", ""])).toEqual([])
    expect(parsePublishedPorts(["0.0.0.0:1-65535->1-65535/tcp"]).length).toBeLessThan(30)
  })
})

describe("links to a project", () => {
  it("lead to its published ports on the host of its server, each once", () => {
    expect(urls(["0.0.0.0:2000->80/tcp", "[::]:2000->80/tcp", "10.0.0.5:2001->81/tcp"])).toEqual([
      "http://203.0.113.5:2000",
      "http://10.0.0.5:2001"
    ])
    expect(urls(["0.0.0.0:2000->80/tcp"], "2001:db8::5")).toEqual(["http://[2001:db8::5]:2000"])
    expect(urls(["0.0.0.0:8443->443/tcp"])).toEqual(["https://203.0.113.5:8443"])
    expect(urls(["0.0.0.0:80->80/tcp"])).toEqual(["http://203.0.113.5:80"])
    expect(urls(["0.0.0.0:443->443/tcp"])).toEqual(["https://203.0.113.5:443"])
  })

  it("leave out a port of the server's loopback address, unless the server is this machine", () => {
    expect(urls(["127.0.0.1:2000->80/tcp"])).toEqual([])
    expect(urls(["127.0.0.1:2000->80/tcp"], "localhost")).toEqual(["http://127.0.0.1:2000"])
  })

  it("begin with the domains that are routed to its ports, and never hold what is no host", () => {
    const routed = [
      { domain: "shop.example.com", target: "203.0.113.5:2000" },
      { domain: "other.example.com", target: "203.0.113.5:2001" },
      { domain: "shop.example.com/@evil.example.com", target: "203.0.113.5:2000" },
      { domain: "user@evil.example.com", target: "203.0.113.5:2000" }
    ]
    expect(urls(["0.0.0.0:2000->80/tcp"], "203.0.113.5", routed)).toEqual([
      "https://shop.example.com",
      "http://203.0.113.5:2000"
    ])
  })

  it("know its server in the proxy file by each of its addresses, and by loopback where the proxy runs there", () => {
    const routed = [
      { domain: "target.example.com", target: "10.0.0.9:2000" },
      { domain: "near.example.com", target: "127.0.0.1:2000" },
      { domain: "bound.example.com", target: "127.0.0.1:2001" }
    ]
    const ports = ["0.0.0.0:2000->80/tcp", "127.0.0.1:2001->80/tcp"]
    const domains = (hosts: ReadonlyArray<string>) =>
      urls(ports, "203.0.113.5", routed, hosts).filter((url) => url.startsWith("https"))
    expect(domains(["203.0.113.5"])).toEqual([])
    expect(domains(["203.0.113.5", "10.0.0.9"])).toEqual(["https://target.example.com"])
    expect(domains(["203.0.113.5", "127.0.0.1"])).toEqual(["https://near.example.com", "https://bound.example.com"])
  })
})
