import { describe, expect, it } from "vitest"
import { checkFreeDisk } from "../../../src/pipelines/health/checks.ts"

const mebibyte = 1024 * 1024

describe("free disk", () => {
  it("is enough where every directory has room", () => {
    expect(checkFreeDisk([{ directory: "/srv", free: 512 * mebibyte }, { directory: "/etc", free: 9_999 * mebibyte }]))
      .toEqual({
        name: "free disk",
        ok: true,
        detail: "512 MiB free on this machine at /srv, 9,999 MiB free on this machine at /etc"
      })
  })

  it("names the directory whose disk is short of it", () => {
    expect(checkFreeDisk([{ directory: "/srv", free: 9_999 * mebibyte }, { directory: "/etc", free: 511 * mebibyte }]))
      .toMatchObject({
        ok: false,
        fix: "Free disk space at /etc, at least 512 MiB: old image archives are the first to go"
      })
  })
})
