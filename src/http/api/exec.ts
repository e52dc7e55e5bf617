import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { ExecInput, ExecInputTaken, ExecRequest, TerminalSize } from "../../schema/exec.ts"
import { done, text } from "../../schema/validation.ts"
import * as failures from "./annotations.ts"
import { annotateFailures, forOperators } from "./annotations.ts"
import { ServerIdPath } from "./servers.ts"

const ExecPath = Schema.Struct({ id: text("The id of the command, from its event `opened`.") })
const Success = Schema.Struct({ success: done })
const ended: failures.Reason = [404, "No command of this caller is under way with this id."]

/** Commands in containers, while their caller stays. */
export class ExecApi extends HttpApiGroup.make("exec", { topLevel: true })
  .add(
    HttpApiEndpoint.post("startExec", "/api/servers/:id/exec").annotateContext(forOperators)
      .annotateContext(
        annotateFailures(
          failures.body,
          failures.server,
          failures.watched,
          failures.store,
          [
            403,
            "The request comes from an agent."
          ],
          [404, "There is no such stack or service."],
          [409, "The service has no running container."],
          [
            422,
            "The stack has several services and none is named, or no command is given and the container has no shell."
          ],
          [429, "As many commands run in containers of the server as can be at a time."]
        )
      )
      .setPath(ServerIdPath)
      .setPayload(ExecRequest)
      .addSuccess(HttpApiSchema.Text({ contentType: "text/event-stream" }))
      .annotate(OpenApi.Summary, "Run a command in a container")
      .annotate(
        OpenApi.Description,
        "Server-sent events: `opened` {exec, container, service, command}; `output` {stream, data} with data in " +
          "base64; `exit` {code}, and the stream closes; `error` {error} where the server cannot be heard any more. The " +
          "command ends when the caller leaves. The history tells who ran which command in which container."
      )
  )
  .add(
    HttpApiEndpoint.post("sendExecInput", "/api/exec/:id/input").annotateContext(forOperators)
      .annotateContext(annotateFailures(failures.body, ended, [409, "Input that comes before it is missing."]))
      .setPath(ExecPath)
      .setPayload(ExecInput)
      .addSuccess(ExecInputTaken)
      .annotate(OpenApi.Summary, "Send input to a command")
      .annotate(
        OpenApi.Description,
        "Answers when there is room for the input, or after 20 seconds without any. Input may be sent again: its " +
          "offset tells what was taken before."
      )
  )
  .add(
    HttpApiEndpoint.post("resizeExec", "/api/exec/:id/size").annotateContext(forOperators)
      .annotateContext(annotateFailures(failures.body, ended))
      .setPath(ExecPath)
      .setPayload(TerminalSize)
      .addSuccess(Success)
      .annotate(OpenApi.Summary, "Resize the terminal of a command")
      .annotate(
        OpenApi.Description,
        "Tells the terminal of a command its new size; it has no effect on a command without a terminal."
      )
  )
  .add(
    HttpApiEndpoint.post("endExec", "/api/exec/:id/end").annotateContext(forOperators)
      .annotateContext(annotateFailures(failures.noBody, ended))
      .setPath(ExecPath)
      .addSuccess(Success)
      .annotate(OpenApi.Summary, "End a command")
      .annotate(
        OpenApi.Description,
        "Ends a command that runs in a container, with everything that it has started there."
      )
  )
  .annotate(OpenApi.Title, "Commands in containers")
  .annotate(OpenApi.Description, "Commands and shells in the containers of a stack, for as long as their caller stays.")
{}
