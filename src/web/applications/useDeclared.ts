import { useQuery } from "@tanstack/react-query"
import type { LocalProject } from "../../schema/projects/Project.ts"
import { call } from "../service/berth.ts"
import { ServiceFailure } from "../service/ServiceFailure.ts"

/** Entry of `platform.json`: its name and unparsed fields. */
export interface DeclaredEntry {
  readonly name: string
  readonly domain: unknown
  readonly entry: { readonly [field: string]: unknown }
}

const declaredOf = async (path: string): Promise<ReadonlyArray<DeclaredEntry>> => {
  const answer = await call((berth) => berth.platformConfig({ urlParams: { path } }))
  if ("error" in answer) throw new ServiceFailure(200, answer.error)
  return answer.flatMap((entry) =>
    typeof entry["name"] === "string" ? [{ name: entry["name"], domain: entry["domain"], entry }] : []
  )
}

/** Fetches the entries of a project's `platform.json`. */
export const useDeclared = (project: LocalProject | undefined) =>
  useQuery({
    queryKey: ["declared", project?.path],
    queryFn: () => declaredOf(project?.path ?? ""),
    enabled: project?.hasPlatformJson === true
  })
