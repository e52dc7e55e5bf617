import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { CompareRequest, Comparison, PullRequest, PullResult } from "../../schema/compare.ts"
import { Overview } from "../../schema/overview.ts"
import {
  BuildRequest,
  BuildResult,
  EditorDiffRequest,
  EditorDiffResult,
  InitRequest,
  InitResult,
  InspectRequest,
  LocalProject
} from "../../schema/projects.ts"
import {
  CheckSecretsRequest,
  ListSecretsQuery,
  ProjectSecrets,
  RecipientsRequest,
  SetSecretRequest
} from "../../schema/secrets.ts"
import { StackAdoption, StackAdoptRequest } from "../../schema/stacks.ts"
import { ProgramsRequest, ProjectPrograms, TrustRequest } from "../../schema/trust.ts"
import * as failures from "./annotations.ts"
import { annotateFailures, forOperators, forViewers, startsRun } from "./annotations.ts"

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
    HttpApiEndpoint.post("adoptStack", "/api/projects/adopt").annotateContext(forOperators)
      .annotateContext(
        annotateFailures(
          failures.body,
          failures.outside,
          failures.server,
          [404, "No compose project runs from that directory."],
          [409, "The directory holds other files, or another process works on the same."],
          [422, "The stack cannot be adopted as it is."],
          [502, "Docker cannot be used, or the release cannot be recorded."]
        )
      )
      .setPayload(StackAdoptRequest)
      .addSuccess(StackAdoption)
      .annotate(OpenApi.Summary, "Make a project of a running stack")
      .annotate(
        OpenApi.Description,
        "Fetches the compose files, env files and mounted files of a stack that somebody began by hand, writes " +
          "container.json, and records what runs as its first release. No container is restarted or recreated, and no data " +
          "is fetched. With plan=true nothing is written."
      )
  )
  .add(
    HttpApiEndpoint.post("showPrograms", "/api/projects/programs").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.body, failures.project))
      .setPayload(ProgramsRequest)
      .addSuccess(ProjectPrograms)
      .annotate(OpenApi.Summary, "Show a project's programs")
      .annotate(
        OpenApi.Description,
        "The build scripts, hooks and links of a project that are used on this machine, and which of them its user trusts. " +
          "For a caller with a token those that are not trusted are neither run nor followed."
      )
  )
  .add(
    HttpApiEndpoint.post("trustProject", "/api/projects/trust").annotateContext(forOperators)
      .annotateContext(
        annotateFailures(failures.body, failures.project, [403, "The caller is not the user of this machine."], [
          409,
          "The programs have changed since they were shown, or a caller with a token pulls files that they could read."
        ])
      )
      .setPayload(TrustRequest)
      .addSuccess(ProjectPrograms)
      .annotate(OpenApi.Summary, "Trust a project's programs")
      .annotate(
        OpenApi.Description,
        "Trusts the programs as they were shown, for callers with a token. Only the user of this machine may; a change of " +
          "one ends it, and so does a pull by a caller with a token into the project, or to where its scripts and hooks could " +
          "read it."
      )
  )
  .add(
    HttpApiEndpoint.get("listSecrets", "/api/projects/secrets").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.project))
      .setUrlParams(ListSecretsQuery)
      .addSuccess(ProjectSecrets)
      .annotate(OpenApi.Summary, "List a project's secrets")
      .annotate(
        OpenApi.Description,
        "Names and sources of the secrets that container.json declares, with the services that use them. Runs no program " +
          "and decrypts nothing."
      )
  )
  .add(
    HttpApiEndpoint.post("checkSecrets", "/api/projects/secrets/check").annotateContext(forOperators)
      .annotateContext(annotateFailures(failures.body, failures.project))
      .setPayload(CheckSecretsRequest)
      .addSuccess(ProjectSecrets)
      .annotate(OpenApi.Summary, "Check a project's secrets")
      .annotate(
        OpenApi.Description,
        "Resolves every secret on this machine, and answers which have a problem. Shows no value."
      )
  )
  .add(
    HttpApiEndpoint.post("setSecret", "/api/projects/secrets/set").annotateContext(forOperators)
      .annotateContext(annotateFailures(failures.body, failures.project, failures.busy))
      .setPayload(SetSecretRequest)
      .addSuccess(ProjectSecrets)
      .annotate(OpenApi.Summary, "Set a secret of an age file")
      .annotate(
        OpenApi.Description,
        "Encrypts the value into the age file of the secret, for the recipients of that file."
      )
  )
  .add(
    HttpApiEndpoint.post("changeRecipients", "/api/projects/secrets/recipients").annotateContext(forOperators)
      .annotateContext(annotateFailures(failures.body, failures.project, failures.busy))
      .setPayload(RecipientsRequest)
      .addSuccess(ProjectSecrets)
      .annotate(OpenApi.Summary, "Change who can read the age files")
      .annotate(
        OpenApi.Description,
        "Adds and removes public keys, and encrypts the age files of the project anew. Who is removed keeps what was read: " +
          "change the secrets, too."
      )
  )
  .add(
    HttpApiEndpoint.post("build", "/api/container/build").annotateContext(forOperators)
      .annotateContext(
        annotateFailures(failures.body, failures.project, failures.server, failures.run, [
          500,
          "The shell that runs the build script cannot be started."
        ])
      )
      .annotateContext(startsRun)
      .setPayload(BuildRequest)
      .addSuccess(BuildResult)
      .annotate(OpenApi.Summary, "Build a project's images")
      .annotate(
        OpenApi.Description,
        "Runs the project's build-image-tar.ps1, or its build-image-tar.sh where there is no PowerShell. Without either, each " +
          "distinct build: section of its compose file is built once with Docker here, or at the server that build.at of " +
          "container.json names; the next deploy sends the images. A build that fails is answered with success false."
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

/** Overview of projects, servers and applications. */
export class OverviewApi extends HttpApiGroup.make("overview", { topLevel: true })
  .add(
    HttpApiEndpoint.get("overview", "/api/overview").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.settings))
      .addSuccess(Overview)
      .annotate(OpenApi.Summary, "Overview")
      .annotate(
        OpenApi.Description,
        "Each project with its stacks, their releases and its run; each application with its status and how many " +
          "fields have drifted; each server with whether it answers. Answered within 5 seconds, whatever hangs: what " +
          "could not be observed has an `error`."
      )
  )
  .annotate(OpenApi.Title, "Overview")
  .annotate(OpenApi.Description, "Everything at one look.")
{}
