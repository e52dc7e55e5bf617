import { describe, expect, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { isOverlapping, listPublishedPorts } from "../../../../src/pipelines/projects/compose.ts"

const ports = (...written: ReadonlyArray<unknown>) => listPublishedPorts(written, (text) => text)
const tcp = (first: number, last = first, address = "") => ({ first, last, address, protocol: "tcp" })

describe("publishedPorts", () => {
  it.each<[unknown, ReadonlyArray<object>]>([
    ["3000", []],
    [3000, []],
    ["3000-3005", []],
    ["8000:80", [tcp(8000)]],
    ["9090-9091:8080-8081", [tcp(9090, 9091)]],
    ["8000-9000:80", []],
    ["127.0.0.1:8001:80", [tcp(8001, 8001, "127.0.0.1")]],
    ["0.0.0.0:8001:80", [tcp(8001)]],
    ["[::1]:8001:80", [tcp(8001, 8001, "::1")]],
    ["127.0.0.1::80", []],
    [":80", []],
    ["6060:6060/udp", [{ ...tcp(6060), protocol: "udp" }]],
    ["70000:80", []],
    ["0:80", []],
    ["x", []],
    [null, []],
    [{ target: 80, published: 8080 }, [tcp(8080)]],
    [{ target: 80, published: "8080", host_ip: "127.0.0.1", protocol: "UDP" }, [
      { ...tcp(8080, 8080, "127.0.0.1"), protocol: "udp" }
    ]],
    [{ target: 80 }, []]
  ])("of %j are %j", (written, expected) => {
    expect(ports(written)).toEqual(expected)
  })

  it("ends soon and takes only ports, whatever is written", () => {
    FastCheck.assert(FastCheck.property(FastCheck.anything(), FastCheck.string(), (value, text) => {
      for (const { first, last } of [...listPublishedPorts(value, (all) => all), ...ports(value, text)]) {
        expect(first >= 1 && first <= last && last <= 65_535).toBe(true)
      }
    }))
    const started = performance.now()
    ports(...Array.from({ length: 100_000 }, () => "1-65535:1-65535"), `${"1".repeat(1_000_000)}:1`)
    expect(performance.now() - started).toBeLessThan(1_000)
  })

  it("overlap as sets of ports do, for one protocol and addresses that meet", () => {
    const port = FastCheck.integer({ min: 1, max: 20 })
    const address = FastCheck.constantFrom("", "127.0.0.1", "10.0.0.1")
    const protocol = FastCheck.constantFrom("tcp", "udp")
    const range = FastCheck.record({ one: port, other: port, address, protocol }).map(({ one, other, ...rest }) => ({
      first: Math.min(one, other),
      last: Math.max(one, other),
      ...rest
    }))
    FastCheck.assert(FastCheck.property(range, range, (a, b) => {
      const shared = Array.from({ length: 20 }, (_, index) => index + 1)
        .some((at) => at >= a.first && at <= a.last && at >= b.first && at <= b.last)
      const meet = a.address === "" || b.address === "" || a.address === b.address
      expect(isOverlapping(a, b)).toBe(shared && meet && a.protocol === b.protocol)
      expect(isOverlapping(b, a)).toBe(isOverlapping(a, b))
    }))
  })
})
