import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import { Array, Duration, Effect, Option, Schema } from "effect"
import { Notice, type Outbox } from "../../runs/Outbox.ts"
import { orUnavailable, type RunDialect } from "./RunDialect.ts"

const decodeNotice = Schema.decodeUnknownOption(Schema.Struct({
  id: Schema.String,
  attempts: Schema.Number,
  age: Schema.Number,
  data: Schema.parseJson(Notice)
}))

const span = (millis: number) => Duration.millis(Math.max(0, millis))

/** Adds notifications within the transaction of the caller. */
export const insertNotices = (
  { now, sql }: RunDialect,
  notices: ReadonlyArray<Notice>
): Effect.Effect<void, SqlError> =>
  Effect.flatMap(
    now,
    (time) =>
      Effect.forEach(notices, (notice) =>
        sql`INSERT INTO notices (id, created_at, due_at, attempts, data) VALUES (
        ${notice.message.id}, ${time}, ${time}, 0, ${JSON.stringify(notice)}
      ) ON CONFLICT (id) DO NOTHING`, { discard: true })
  )

/** Notifications in a table of a database. */
export const makeSqlOutbox = (dialect: RunDialect): Outbox["Type"] => {
  const { now, skipClaimed, sql } = dialect
  const available = orUnavailable(dialect)
  const at = <A>(use: (time: Fragment) => Effect.Effect<A, SqlError>) => available(Effect.flatMap(now, use))
  return {
    claim: (most, lease) =>
      at((time) =>
        Effect.map(
          sql`UPDATE notices SET due_at = ${time} + ${Duration.toMillis(lease)}, attempts = attempts + 1
            WHERE id IN (
              SELECT id FROM notices WHERE due_at <= ${time} ORDER BY due_at, id LIMIT ${most} ${skipClaimed}
            ) RETURNING id, attempts, ${time} - created_at AS age, data`,
          (rows) =>
            Array.filterMap(rows, (row) => decodeNotice(row)).map(({ age, attempts, data, id }) => ({
              ...data,
              id,
              attempts,
              age: span(age)
            }))
        )
      ),
    remove: (id) => available(Effect.asVoid(sql`DELETE FROM notices WHERE id = ${id}`)),
    postpone: ({ attempts, id }, pause) =>
      at((time) =>
        Effect.asVoid(
          sql`UPDATE notices SET due_at = ${time} + ${Duration.toMillis(pause)}
            WHERE id = ${id} AND attempts = ${attempts}`
        )
      ),
    nextDue: at((time) =>
      Effect.map(
        sql<{ readonly wait: number | null }>`SELECT min(due_at) - ${time} AS wait FROM notices`,
        ([row]) => Option.map(Option.fromNullable(row?.wait), span)
      )
    ),
    addDrift: (judged, drifts, notices) => {
      const subject = JSON.stringify([judged.projectPath, judged.appName])
      return drifts
        ? available(sql.withTransaction(Effect.gen(function*() {
          const rows = yield* sql`INSERT INTO drifts (subject) VALUES (${subject})
            ON CONFLICT (subject) DO NOTHING RETURNING subject`
          if (rows.length > 0) yield* insertNotices(dialect, notices)
          return rows.length > 0 && notices.length > 0
        })))
        : available(Effect.as(sql`DELETE FROM drifts WHERE subject = ${subject}`, false))
    }
  }
}
