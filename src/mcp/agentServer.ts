import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type ServerContext
} from "@modelcontextprotocol/server"
import { Effect } from "effect"
import { version } from "../schema/version.ts"
import { escapeText, escapeTextLines } from "../schema/words/escaped.ts"
import { shortenText } from "./answers/shortenAnswer.ts"
import type { ProgressListener, Tool } from "./answers/Tool.ts"
import { instructions } from "./guide.ts"
import type { Offer } from "./Offer.ts"
import type { RunAgentRequest } from "./runAgentRequest.ts"

/** A tool as agents see it. */
export const describeTool = ({ description, inputSchema, name, outputSchema, readOnly, title }: Tool) => ({
  name,
  title,
  description,
  inputSchema,
  outputSchema,
  annotations: readOnly
    ? { readOnlyHint: true, openWorldHint: false }
    : { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false }
})

const longestProgress = 300
const longestFailure = 2_000

/** Sends progress notifications to an agent that passed a progress token. */
const heardBy = ({ mcpReq }: ServerContext): ProgressListener => {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return () => Effect.void
  let progress = 0
  return (words) =>
    Effect.ignore(Effect.tryPromise(() => {
      progress += 1
      const message = shortenText(escapeText(words), longestProgress)
      return mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, message } })
    }))
}

const answerTo = (tool: Tool, given: unknown, heard: ProgressListener) =>
  Effect.match(tool.call(given, heard), {
    onSuccess: ({ structured, text }) => ({
      content: [{ type: "text" as const, text }],
      structuredContent: { ...structured }
    }),
    // Clients of the older protocol accept no data in a failed result.
    onFailure: ({ message }) => ({
      content: [{ type: "text" as const, text: escapeTextLines(message) }],
      isError: true
    })
  })

/** Builds the protocol server for one agent, or for one of its requests, with the given offer. */
export const makeAgentServer = ({ read, resources, resourceTemplates, tools }: Offer, run: RunAgentRequest): Server => {
  const server = new Server(
    { name: "berth", title: "Berth", version },
    { capabilities: { tools: {}, resources: {} }, instructions }
  )
  server.setRequestHandler("tools/list", () => ({ tools: tools.map(describeTool) }))
  server.setRequestHandler("tools/call", ({ params }, context) => {
    const tool = tools.find(({ name }) => name === params.name)
    if (tool === undefined) {
      const known = tools.map(({ name }) => name).join(", ")
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no such tool. Known tools: ${known}`)
    }
    return run(answerTo(tool, params.arguments, heardBy(context)), { signal: context.mcpReq.signal })
  })
  server.setRequestHandler("resources/list", () => ({ resources: [...resources] }))
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [...resourceTemplates] }))
  server.setRequestHandler("resources/read", async ({ params: { uri } }, { mcpReq: { signal } }) => {
    const answer = await run(Effect.either(read(uri)), { signal })
    if (answer._tag === "Right") return { contents: [answer.right] }
    const { message, status } = answer.left
    const words = shortenText(escapeText(message), longestFailure)
    throw status === 404
      ? new ResourceNotFoundError(uri, words)
      : new ProtocolError(ProtocolErrorCode.InternalError, words)
  })
  return server
}
