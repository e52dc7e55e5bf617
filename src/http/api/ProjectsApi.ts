import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { PullRequest, PullResult } from "../../schema/deploy/Pull.ts"
import { BuildRequest, BuildResult } from "../../schema/projects/Build.ts"
import { CompareRequest, Comparison } from "../../schema/projects/Compare.ts"
import { EditorDiffRequest, EditorDiffResult } from "../../schema/projects/EditorDiff.ts"
import { InitRequest, InitResult } from "../../schema/projects/Init.ts"
import { InspectRequest, LocalProject } from "../../schema/projects/Project.ts"
import { forOperators, forViewers } from "./annotations/access.ts"
import * as failures from "./annotations/failures.ts"
import { annotateFailures } from "./annotations/failures.ts"
import { startsRun } from "./annotations/startsRun.ts"

/** The projects of this machine, and their files here and on servers. */
export class ProjectsApi extends HttpApiGroup.make("projects", { topLevel: true })
  .add(
    HttpApiEndpoint.get("listProjects", "/api/projects").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.settings, [500, "The projects root cannot be read."]))
      .addSuccess(Schema.Array(LocalProject))
      .annotate(OpenApi.Summary, "List projects")
      .annotate(
        OpenApi.Description,
        "The directories under the projects root with an image build file, a compose file or a " +
          "platform.json."
      )
  )
  .add(
    HttpApiEndpoint.post("inspectProject", "/api/projects/inspect").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.body, failures.project))
      .setPayload(InspectRequest)
      .addSuccess(LocalProject)
      .annotate(OpenApi.Summary, "Show one project")
      .annotate(
        OpenApi.Description,
        "The same as in the list, of any directory that the caller may work in. The problems are those " +
          "of its compose file and platform.json, too."
      )
  )
  .add(
    HttpApiEndpoint.post("compareProject", "/api/projects/compare").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.body, failures.project, failures.server))
      .setPayload(CompareRequest)
      .addSuccess(Comparison)
      .annotate(OpenApi.Summary, "Compare a project with its deployed copy")
      .annotate(
        OpenApi.Description,
        "Compares the compose file, .env, data/ and the files of container.json by their hashes; of " +
          "env files only the names of the variables that differ are listed."
      )
  )
  .add(
    HttpApiEndpoint.post("initProject", "/api/projects/init").annotateContext(forOperators)
      .annotateContext(
        annotateFailures(failures.body, failures.project, failures.settings, failures.unknownServer, [
          409,
          "Several stored servers have this name, or no port can be told."
        ])
      )
      .setPayload(InitRequest)
      .addSuccess(InitResult)
      .annotate(OpenApi.Summary, "Prepare a project for deployment")
      .annotate(
        OpenApi.Description,
        "Writes container.json, compose.yml, .env, build-image-tar.ps1, build-image-tar.sh and .dockerignore where " +
          "they are missing; nothing that exists is changed."
      )
  )
  .add(
    HttpApiEndpoint.post("build", "/api/container/build").annotateContext(forOperators)
      .annotateContext(
        annotateFailures(failures.body, failures.project, failures.run, [
          500,
          "The shell that runs the build script cannot be started."
        ])
      )
      .annotateContext(startsRun)
      .setPayload(BuildRequest)
      .addSuccess(BuildResult)
      .annotate(OpenApi.Summary, "Build a project's image archive")
      .annotate(
        OpenApi.Description,
        "Runs the project's build-image-tar.ps1, or its build-image-tar.sh where there is no PowerShell. A " +
          "script that fails is answered with success false."
      )
  )
  .add(
    HttpApiEndpoint.post("pull", "/api/container/pull").annotateContext(forOperators)
      .annotateContext(annotateFailures(failures.body, failures.outside, failures.server, failures.run))
      .annotateContext(startsRun)
      .setPayload(PullRequest)
      .addSuccess(PullResult)
      .annotate(OpenApi.Summary, "Fetch files from a server")
      .annotate(
        OpenApi.Description,
        "Downloads files and directories over SFTP; links are not followed. An item that fails is told " +
          "among the errors."
      )
  )
  .add(
    HttpApiEndpoint.post("editorDiff", "/api/container/editor-diff").annotateContext(forOperators)
      .annotateContext(
        annotateFailures(failures.body, failures.outside, failures.server, [500, "The editor cannot be started."])
      )
      .setPayload(EditorDiffRequest)
      .addSuccess(EditorDiffResult)
      .annotate(OpenApi.Summary, "Show a file of a server beside a local one")
      .annotate(
        OpenApi.Description,
        "Opens the editor of this machine on a private copy of the server's file and the local file."
      )
  )
  .annotate(OpenApi.Title, "Projects")
  .annotate(OpenApi.Description, "The projects of this machine, and their files here and on servers.")
{}
