import { expect, it } from "vitest"
import { describeRefusal } from "../../../../src/services/platform/Platform.ts"

it.each<[string, string]>([
  ["{\"message\":\"Not found.\"}", "Not found."],
  ["{\"error\":\"Nope\"}", "Nope"],
  [
    "{\"message\":\"Validation failed.\",\"errors\":{\"fqdn\":[\"This field is not allowed.\"],\"domains\":\"bad\"}}",
    "Validation failed. (fqdn: This field is not allowed.; domains: bad)"
  ],
  ["{\"errors\":{\"name\":[\"is required\",\"is short\"]}}", "refused (name: is required is short)"],
  ["{\"errors\":[\"a\",{\"b\":1}]}", "refused (a; {\"b\":1})"],
  ["{\"message\":\"\",\"error\":\"Nope\"}", "Nope"],
  ["{\"status\":\"odd\"}", "{\"status\":\"odd\"}"],
  ["<html><title>502</title><body>Bad <b>Gateway</b></body></html>", "502 Bad Gateway"],
  ["", "it gave no reason"],
  ["\"text\"", "\"text\""]
])("%s", (body, words) => {
  expect(describeRefusal(body)).toBe(words)
})
