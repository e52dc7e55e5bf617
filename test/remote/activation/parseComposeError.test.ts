import { describe, expect, it } from "vitest"
import { parseComposeError } from "../../../src/remote/activation.ts"

const reason =
  "failed to create task for container: error mounting \"/dev/null\" to rootfs at \"/bin\": not a directory"

// As the programs wrote these, without a terminal.
const said = {
  "compose 2.26": [
    "time=\"2026-11-22T23:54:18Z\" level=warning msg=\"The \\\"TAG\\\" variable is not set. Defaulting to a blank string.\"",
    " Network shop_default  Creating",
    " Network shop_default  Created",
    " Container shop-web-1  Recreate",
    " Container shop-web-1  Recreated",
    " Container shop-web-1  Starting",
    " Container shop-other-1  Started",
    `Error response from daemon: ${reason}`
  ],
  "docker-compose 1.29": [
    "The TAG variable is not set. Defaulting to a blank string.",
    "Creating network \"shop_default\" with the default driver",
    "Creating shop_other_1 ... \r",
    "Creating shop_web_1   ... \r",
    "Creating shop_web_1   ... error\r",
    "",
    `ERROR: for shop_web_1  Cannot start service web: ${reason}`,
    "Creating shop_other_1 ... done\r",
    "",
    `ERROR: for web  Cannot start service web: ${reason}`,
    "Encountered errors while bringing up the project."
  ]
}

describe("composeError", () => {
  it("is the reason alone", () => {
    expect(parseComposeError(said["compose 2.26"].join("\n"))).toBe(`Error response from daemon: ${reason}`)
    expect(parseComposeError(said["docker-compose 1.29"].join("\n"))).toBe(`Cannot start service web: ${reason}`)
  })

  it("keeps every line that it does not know, and all where nothing else is left", () => {
    const text = "service \"web\" has neither an image nor a build context specified: invalid compose project"
    expect(parseComposeError(`${text}\n\nand what ran before did not start again:\n Container a  Starting\nno`)).toBe(
      `${text}\nand what ran before did not start again:\nno`
    )
    expect(parseComposeError(" Container a  Starting\n")).toBe("Container a  Starting")
    expect(parseComposeError(" web Error failed to resolve reference \"docker.io/nosuch/image:1\"")).toContain("nosuch")
  })
})
