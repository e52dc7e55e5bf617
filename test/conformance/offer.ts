import { Effect, Schema } from "effect"
import { BerthError } from "../../src/client/BerthError.ts"
import { defineTool, type Tool } from "../../src/mcp/answers.ts"
import type { OfferFor } from "../../src/mcp/requests.ts"

const Said = Schema.Struct({ said: Schema.String })
const words = ({ said }: typeof Said.Type) => said

const simpleText = defineTool({
  name: "test_simple_text",
  title: "Text",
  description: "Answers a text.",
  readOnly: true,
  input: Schema.Struct({}),
  output: Said,
  call: () => Effect.succeed({ said: "This is a simple text response for testing." }),
  text: words
})

const failing = defineTool({
  name: "test_error_handling",
  title: "Failure",
  description: "Always fails.",
  readOnly: true,
  input: Schema.Struct({}),
  output: Said,
  call: () =>
    Effect.fail(
      new BerthError({
        reason: "refused",
        status: 500,
        message: "This tool intentionally returns an error for testing"
      })
    )
})

const progressing = defineTool({
  name: "test_tool_with_progress",
  title: "Progress",
  description: "Tells three times how far it has come.",
  readOnly: true,
  input: Schema.Struct({}),
  output: Said,
  call: (_, heard) =>
    Effect.as(
      Effect.forEach(["0 of 100", "50 of 100", "100 of 100"], (words) => Effect.delay(heard(words), "50 millis")),
      { said: "Done." }
    ),
  text: words
})

/** A tool whose schema has what ours have not: it has to arrive as it is. */
const broadSchema: Tool = {
  ...simpleText,
  name: "json_schema_2020_12_tool",
  inputSchema: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    $defs: {
      address: {
        $anchor: "addressDef",
        type: "object",
        properties: { street: { type: "string" }, city: { type: "string" } }
      }
    },
    properties: {
      name: { type: "string" },
      address: { $ref: "#/$defs/address" },
      contactMethod: { type: "string", enum: ["phone", "email"] },
      phone: { type: "string" },
      email: { type: "string" }
    },
    allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
    if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: { required: ["phone"] },
    else: { required: ["email"] },
    additionalProperties: false
  }
}

const text = { uri: "test://static-text", name: "text", title: "A text", mimeType: "text/plain" }
const template = {
  uriTemplate: "test://template/{id}/data",
  name: "template",
  title: "A template",
  mimeType: "application/json"
}

/** The tools and resources that the scenarios of the suite ask for, as far as Berth's own can be like them. */
export const fixtureOffer: OfferFor = () => ({
  tools: [simpleText, failing, progressing, broadSchema],
  resources: [text],
  resourceTemplates: [template],
  read: (uri) => {
    const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1]
    if (uri === text.uri) {
      return Effect.succeed({ ...text, text: "This is the content of the static text resource." })
    }
    if (id !== undefined) {
      return Effect.succeed({
        uri,
        mimeType: template.mimeType,
        text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` })
      })
    }
    return new BerthError({ reason: "refused", status: 404, message: "There is no such resource" })
  }
})
