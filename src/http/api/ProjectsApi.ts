import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { CompareRequest, Comparison } from "../../schema/Compare.ts"
import { InitRequest, InitResult } from "../../schema/Init.ts"
import { LocalProject } from "../../schema/Project.ts"

/** The projects of this machine. */
export class ProjectsApi extends HttpApiGroup.make("projects", { topLevel: true })
  .add(
    HttpApiEndpoint.get("listProjects", "/api/projects")
      .addSuccess(Schema.Array(LocalProject))
      .annotateContext(
        OpenApi.annotations({
          summary: "List projects",
          description: "The directories under the projects root with an image build file, a compose file or a " +
            "platform.json."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("compareProject", "/api/projects/compare")
      .setPayload(CompareRequest)
      .addSuccess(Comparison)
      .annotateContext(
        OpenApi.annotations({
          summary: "Compare a project with its deployed copy",
          description: "Compares the compose file, .env, data/ and the files of container.json by their hashes; of " +
            "env files only the names of the variables that differ are told."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("initProject", "/api/projects/init")
      .setPayload(InitRequest)
      .addSuccess(InitResult)
      .annotateContext(
        OpenApi.annotations({
          summary: "Prepare a project for deployment",
          description:
            "Writes container.json, compose.yml, .env, build-image-tar.ps1 and .dockerignore where they are " +
            "missing; nothing that exists is changed."
        })
      )
  )
  .annotate(OpenApi.Title, "Projects")
{}
