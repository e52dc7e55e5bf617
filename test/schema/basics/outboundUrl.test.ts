import { expect, it } from "vitest"
import { isLinkLocal, outboundUrlRefusal, upstreamUrlRefusal } from "../../../src/schema/basics.ts"

it.each([
  ["https://hooks.example.com/a/b?c=d", undefined],
  ["http://127.0.0.1:8080/x", undefined],
  ["http://localhost/x", undefined],
  ["http://[::1]:1/x", undefined],
  ["http://hooks.example.com/", "must be an https:// address, or an http:// one of this machine"],
  ["http://127.0.0.1.example.com/", "must be an https:// address, or an http:// one of this machine"],
  ["http://10.0.0.1/", "must be an https:// address, or an http:// one of this machine"],
  ["file:///etc/passwd", "must be an https:// address, or an http:// one of this machine"],
  ["ann@example.com", "must be an https:// address"],
  ["https://ann:pass@hooks.example.com/", "must not contain a user or a password"],
  ["https://169.254.169.254/latest", "must not be a link-local address"],
  // URLs write each of these as the address that it is.
  ["https://2852039166/", "must not be a link-local address"],
  ["https://0xa9fea9fe/", "must not be a link-local address"],
  ["https://[fe80::1]/", "must not be a link-local address"],
  ["https://[::ffff:169.254.169.254]/", "must not be a link-local address"],
  ["https://[fd00:ec2::254]/", "must not be a link-local address"]
])("an address like %s: %s", (url, reason) => {
  expect(outboundUrlRefusal(url)).toBe(reason)
})

it("knows link-local addresses as names resolve to them", () => {
  const linkLocal = ["169.254.169.254", "::ffff:169.254.1.1", "fe80::1", "FEBF::1", "fd00:ec2::254", "100.100.100.200"]
  for (const address of [...linkLocal, "::169.254.1.1", "::ffff:6464:64c8", "64:ff9b::a9fe:a9fe", "2002:a9fe:101::"]) {
    expect([address, isLinkLocal(address)]).toEqual([address, true])
  }
  const ofClouds = ["fd20:ce::254", "168.63.129.16", "192.0.0.192", "::ffff:168.63.129.16", "2002:6464:64c8::"]
  for (const address of [...ofClouds, "64:ff9b:1::a9fe:a9fe", "[64:ff9b:1::6464:64c8]", "::ffff:0:a9fe:1"]) {
    expect([address, isLinkLocal(address)]).toEqual([address, true])
  }
  for (
    const address of [
      "169.253.1.1",
      "10.0.0.1",
      "fec0::1",
      "::1",
      "fd00::1",
      "64:ff9b::a00:1",
      "100.100.100.20",
      "2001:db8::a9fe:1",
      "fd20:cd::254",
      "2002:a00:1::a9fe:1",
      "fd00:ec20::254"
    ]
  ) {
    expect([address, isLinkLocal(address)]).toEqual([address, false])
  }
})

it.each([
  "http://169.254.169.254/",
  "http://169.254.169.254./",
  "http://169.254.43518/",
  "http://0251.0376.0251.0376/",
  "http://2852039166/",
  "https://0xA9FEA9FE:8000/",
  "http://ann:pass@169.254.169.254/",
  "http://[fe80::1]/",
  "http://[0:0:0:0:0:ffff:169.254.169.254]/",
  "http://[::169.254.169.254]/",
  "http://[64:ff9b::169.254.169.254]/",
  "http://[2002:a9fe:a9fe::]/",
  "http://[fd00:ec2::254]/",
  "http://100.100.100.200/"
])("no upstream is at %s", (url) => {
  expect(upstreamUrlRefusal(url)).toBe("must not be a link-local address")
})

it.each(["http://10.0.0.5:8000", "https://coolify.example.com", "http://localhost:8000", "http://[fd00::1]/"])(
  "an upstream may be at %s",
  (url) => {
    expect(upstreamUrlRefusal(url)).toBeUndefined()
  }
)
