import { describe, expect, it } from "vitest"
import { Disclosed } from "../../../src/schema/applications.ts"
import { checkToken, checkVersion } from "../../../src/services/platform/coolify.ts"

describe("versionFinding", () => {
  it.each([
    ["4.1.0", true],
    ["v4.1.1", false],
    ["\"4.1.2\"", true],
    ["4.3.11", true],
    ["nightly", true]
  ])("%s", (version, ok) => {
    expect(checkVersion(version)).toMatchObject({ name: "platform version", ok })
  })

  it("says what is wrong with a faulty version, and what to do", () => {
    expect(checkVersion("4.1.1")).toMatchObject({
      detail: expect.stringContaining("SSH port"),
      fix: "Update Coolify to 4.1.2"
    })
  })
})

describe("tokenFinding", () => {
  const app = { uuid: "a", name: "shop", raw: {} }
  const env = (value: Disclosed<string>) => ({ key: "HOST_PORT", record: { id: "1" }, value })

  it("names the ability that hidden values need", () => {
    const hidden = [env(Disclosed.Known({ value: "1" })), env(Disclosed.Hidden({ reason: "why" }))]
    expect(checkToken([app], hidden)).toMatchObject({ ok: false, fix: expect.stringContaining("read:sensitive") })
    expect(checkToken([app], hidden.slice(0, 1))).toMatchObject({ ok: true })
    expect(checkToken([app], [])).toMatchObject({ ok: true, detail: expect.stringContaining("shows once") })
  })

  it("does not blame the token for a locked variable", () => {
    const locked = { ...env(Disclosed.Hidden({ reason: "why" })), record: { id: "2", is_shown_once: true } }
    expect(checkToken([app], [locked, env(Disclosed.Known({ value: "1" }))])).toMatchObject({
      ok: true,
      detail: "it may read 1 application and the values of their variables"
    })
    expect(checkToken([app], [locked])).toMatchObject({
      ok: true,
      detail: "it may read 1 application; whether it may read values shows once there is a variable that is not locked"
    })
  })
})
