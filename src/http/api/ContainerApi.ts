import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { BuildRequest, BuildResult } from "../../schema/Build.ts"
import { DeployRequest, DeployResult } from "../../schema/Deploy.ts"
import { EditorDiffRequest, EditorDiffResult } from "../../schema/EditorDiff.ts"
import { PullRequest, PullResult } from "../../schema/Pull.ts"

/** Building, deploying and fetching container projects. */
export class ContainerApi extends HttpApiGroup.make("container", { topLevel: true })
  .add(
    HttpApiEndpoint.post("build", "/api/container/build")
      .setPayload(BuildRequest)
      .addSuccess(BuildResult)
      .annotateContext(
        OpenApi.annotations({
          summary: "Build a project's image archive",
          description: "Runs the project's build-image-tar.ps1. A script that fails is answered with success false."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("deploy", "/api/container/deploy")
      .setPayload(DeployRequest)
      .addSuccess(DeployResult)
      .annotateContext(
        OpenApi.annotations({
          summary: "Deploy a project",
          description:
            "Sends what the server lacks of the image archive, the compose file and the env files, loads the image, " +
            "starts the stack and waits until it is healthy; a step that fails is undone."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("pull", "/api/container/pull")
      .setPayload(PullRequest)
      .addSuccess(PullResult)
      .annotateContext(
        OpenApi.annotations({
          summary: "Fetch files from a server",
          description:
            "Downloads files and directories over SFTP; links are not followed. An item that fails is told " +
            "among the errors."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("editorDiff", "/api/container/editor-diff")
      .setPayload(EditorDiffRequest)
      .addSuccess(EditorDiffResult)
      .annotateContext(
        OpenApi.annotations({
          summary: "Show a file of a server beside a local one",
          description: "Opens the editor of this machine on a private copy of the server's file and the local file."
        })
      )
  )
  .annotate(OpenApi.Title, "Container deployment")
{}
