import { afterEach, describe, expect, it, vi } from "vitest"
import { formatUserAtMachine, readUserName } from "../../../src/services/local/user.ts"

const unknown = () => {
  throw new Error("uv_os_get_passwd returned ENOENT")
}

describe("the user's name", () => {
  afterEach(() => {
    vi.unstubAllEnvs()
  })

  it("is the one on record, else the one in the environment", () => {
    vi.stubEnv("LOGNAME", "ann")
    expect(readUserName(() => "bob")).toBe("bob")
    expect(readUserName(unknown)).toBe("ann")
  })

  it("is empty for a user id without an entry, which stands for itself at the machine", () => {
    vi.stubEnv("LOGNAME", undefined)
    vi.stubEnv("USER", undefined)
    expect(readUserName(unknown)).toBe("")
    expect(formatUserAtMachine("")).toMatch(/^\d+@./)
    expect(formatUserAtMachine("an\nn")).toMatch(/^an n@/)
  })
})
