import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { StatsHistory, StatsHistoryQuery } from "../../schema/StatsHistory.ts"
import { forViewers } from "./annotations/access.ts"
import * as failures from "./annotations/failures.ts"
import { annotateFailures } from "./annotations/failures.ts"
import { ServerIdPath } from "./ServersApi.ts"

/** Resource usage over time. */
export class StatsApi extends HttpApiGroup.make("stats", { topLevel: true })
  .add(
    HttpApiEndpoint.get("statsHistory", "/api/servers/:id/stats/history").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.settings, failures.unknownServer, failures.sameNames))
      .setPath(ServerIdPath)
      .setUrlParams(StatsHistoryQuery)
      .addSuccess(StatsHistory)
      .annotate(OpenApi.Summary, "Show the usage of a server over time")
      .annotate(
        OpenApi.Description,
        "Load, memory and disks of a server, and CPU, memory, network and block I/O of its containers: a sample each 15 " +
          "seconds, kept in memory for an hour. A request starts the sampling, which ends a minute after the last one " +
          "unless stats.sample is always; the first waits for a sample. A sample that failed has an `error`."
      )
  )
  .annotate(OpenApi.Title, "Usage over time")
  .annotate(OpenApi.Description, "What servers and containers used during the last hour.")
{}
