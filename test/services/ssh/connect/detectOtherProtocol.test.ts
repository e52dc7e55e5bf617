import { describe, expect, it } from "@effect/vitest"
import { detectOtherProtocol } from "../../../../src/services/ssh/connect.ts"

const of = (text: string) => detectOtherProtocol(Buffer.from(text, "latin1"))

describe("otherProtocol", () => {
  it.each([
    ["HTTP/1.1 400 Bad Request\r\n", "HTTP"],
    ["<html><head>", "HTTP"],
    ["\x15\x03\x01\x00\x02\x02", "TLS"],
    ["220 mail.example ESMTP\r\n", "SMTP or FTP"],
    ["-ERR unknown command\r\n", "Redis"],
    ["J\0\0\0\x0a8.0.36", "MySQL"]
  ])("knows %j", (text, protocol) => expect(of(text)).toBe(protocol))

  it.each([
    "SSH-2.0-OpenSSH_9.2\r\n",
    "S",
    "",
    "Exceeded MaxStartups\r\n",
    "Not allowed at this time\r\n",
    "Welcome\r\n"
  ])(
    "waits for what may come behind %j",
    (text) => expect(of(text)).toBeUndefined()
  )
})
