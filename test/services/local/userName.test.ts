import { afterEach, describe, expect, it, vi } from "vitest"
import { userAtMachine, userName } from "../../../src/services/local/userName.ts"

const unknown = () => {
  throw new Error("uv_os_get_passwd returned ENOENT")
}

describe("the user's name", () => {
  afterEach(() => {
    vi.unstubAllEnvs()
  })

  it("is the one on record, else the one in the environment", () => {
    vi.stubEnv("LOGNAME", "ann")
    expect(userName(() => "bob")).toBe("bob")
    expect(userName(unknown)).toBe("ann")
  })

  it("is empty for a user id without an entry, which stands for itself at the machine", () => {
    vi.stubEnv("LOGNAME", undefined)
    vi.stubEnv("USER", undefined)
    expect(userName(unknown)).toBe("")
    expect(userAtMachine("")).toMatch(/^\d+@./)
    expect(userAtMachine("an\nn")).toMatch(/^an n@/)
  })
})
