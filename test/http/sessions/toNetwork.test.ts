import { describe, expect, it } from "vitest"
import { toNetwork } from "../../../src/http/sessions.ts"

describe("networkOf", () => {
  it.each([
    ["127.0.0.1", "127.0.0.1"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::6", "2001:db8:1:2::/64"],
    ["2001:db8::6", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["", ""]
  ])("of %j is %j", (address, network) => {
    expect(toNetwork(address)).toBe(network)
  })
})
