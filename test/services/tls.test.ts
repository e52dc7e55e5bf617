import { Array } from "effect"
import { describe, expect, it } from "vitest"
import { describeDistrust } from "../../src/services/tls.ts"

const nobody = { C: "", ST: "", L: "", O: "", OU: "", CN: "" }
const certificateFor = (names: ReadonlyArray<string>, subject = nobody) => ({
  ca: false,
  raw: Buffer.alloc(0),
  subject,
  issuer: nobody,
  valid_from: "",
  valid_to: "",
  serialNumber: "",
  fingerprint: "",
  fingerprint256: "",
  fingerprint512: "",
  subjectaltname: names.join(", ")
})

describe("describeDistrust", () => {
  it.each([
    ["CERT_HAS_EXPIRED", "it has ended"],
    ["CERT_NOT_YET_VALID", "it is not valid yet"],
    ["SELF_SIGNED_CERT_IN_CHAIN", "it is signed by an authority that browsers do not know"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "it is for a.example.com, b.example.com"],
    ["SOMETHING_NEW", "SOMETHING_NEW"]
  ])("says of %s that %s", (code, words) => {
    expect(describeDistrust(code, certificateFor(["DNS:a.example.com", "DNS:b.example.com"]))).toBe(words)
  })

  it("names few of many names, and none where it has none", () => {
    const names = Array.makeBy(7, (index) => `DNS:${index}.example.com`)
    expect(describeDistrust("ERR_TLS_CERT_ALTNAME_INVALID", certificateFor(names)))
      .toBe("it is for 0.example.com, 1.example.com, 2.example.com, 3.example.com, 4.example.com and 2 more names")
    expect(describeDistrust("ERR_TLS_CERT_ALTNAME_INVALID", certificateFor([]))).toBe("it is for other names")
  })

  it("knows the default certificate of a proxy", () => {
    expect(
      describeDistrust("DEPTH_ZERO_SELF_SIGNED_CERT", certificateFor([], { ...nobody, CN: "TRAEFIK DEFAULT CERT" }))
    )
      .toBe("it is the proxy's default certificate, since the proxy has none for the domain")
  })
})
