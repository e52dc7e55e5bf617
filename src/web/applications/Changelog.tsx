import { useInfiniteQuery } from "@tanstack/react-query"
import { formatCount, formatValue } from "../format/format.ts"
import { call } from "../service/berth.ts"
import { Age } from "../ui/Age.tsx"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { Empty, Loading, Warnings } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"

const atOnce = 10

const useChangelog = (projectPath: string, appName: string) =>
  useInfiniteQuery({
    queryKey: ["changelog", projectPath, appName],
    queryFn: ({ pageParam, signal }) =>
      call((berth) =>
        berth.changelog({
          urlParams: { projectPath, appName, limit: atOnce, ...pageParam === 0 ? {} : { before: pageParam } }
        }), signal),
    initialPageParam: 0,
    getNextPageParam: ({ next }) => (next === null ? undefined : Number(next)),
    staleTime: 60_000
  })

/** Upserts of an application, newest first. */
export const Changelog = ({ appName, projectPath }: { readonly projectPath: string; readonly appName: string }) => {
  const { data, dataUpdatedAt, error, fetchNextPage, hasNextPage, isFetching, refetch } = useChangelog(
    projectPath,
    appName
  )
  const entries = data?.pages.flatMap((page) => page.entries) ?? []
  const unreadable = data?.pages[0]?.unreadable ?? 0
  return (
    <Panel
      title="Changelog"
      note="what upserts changed"
      aside={<Age at={dataUpdatedAt} before="read " />}
    >
      <Loading query={{ data, error, refetch }} what="the changelog" />
      <Warnings
        texts={unreadable === 0
          ? []
          : [`${formatCount(unreadable, "entry", "entries")} of platform.changelog.json cannot be read`]}
      />
      {data !== undefined && entries.length === 0
        ? <Empty title="Nothing was changed from here yet" icon="activity">Each upsert writes down what it did.</Empty>
        : null}
      <ol className="rows">
        {entries.map(({ action, changes, number, timestamp }) => (
          <li key={number} className="log-entry">
            <Badge tone={action === "create" ? "good" : "idle"}>{action === "create" ? "created" : "updated"}</Badge>
            <span className="grow">
              {changes.length === 0
                ? <span className="quiet">{action === "create" ? "as platform.json had it then" : "no field"}</span>
                : null}
              {changes.map((change) => (
                <span className="from-to" key={change.field}>
                  <span className="strong">{change.label}</span>
                  {change.old === null ? null : (
                    <>
                      <code className="old">{formatValue(change.old)}</code>
                      <span className="quiet">became</span>
                    </>
                  )}
                  <code className="new">{formatValue(change.new)}</code>
                </span>
              ))}
            </span>
            <Age at={timestamp} />
          </li>
        ))}
      </ol>
      {hasNextPage
        ? (
          <div className="body">
            <Button look="small" disabled={isFetching} onClick={() => fetchNextPage()}>
              {isFetching ? "Reading …" : "Show older ones"}
            </Button>
          </div>
        )
        : null}
    </Panel>
  )
}
