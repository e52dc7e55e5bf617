import { Effect, SynchronizedRef } from "effect"
import type { PlatformMachine } from "./platformRecords.ts"
import { Refused } from "./Refused.ts"

/** Contents that every platform has; all records share one counter of ids. */
export interface StoredContents<App, Env> {
  readonly applications: ReadonlyArray<App>
  readonly envs: ReadonlyMap<string, ReadonlyArray<Env>>
  readonly counter: number
}

const known = (what: string, all: ReadonlyArray<string>, uuid: string) =>
  all.includes(uuid) ? Effect.void : Effect.fail(Refused.missing(what))

/** Checks that the project, server and key of a new application exist. */
export const checkPlaces = (
  places: {
    readonly projects: ReadonlyArray<string>
    readonly servers: ReadonlyArray<PlatformMachine>
    readonly privateKeys: ReadonlyArray<string>
  },
  fields: { readonly project_uuid: string; readonly server_uuid: string; readonly private_key_uuid: string }
): Effect.Effect<void, Refused> =>
  known("Project", places.projects, fields.project_uuid).pipe(
    Effect.zipRight(known("Server", places.servers.map(({ uuid }) => uuid), fields.server_uuid)),
    Effect.zipRight(known("Private Key", places.privateKeys, fields.private_key_uuid))
  )

/** In-memory store of applications and their variables. */
export const makeApplicationStore = <
  App extends { readonly uuid: string },
  Env extends { readonly id: number },
  More extends object
>(initial: StoredContents<App, Env> & More) =>
  Effect.map(SynchronizedRef.make(initial), (contents) => {
    type Contents = StoredContents<App, Env> & More

    const find = ({ applications }: StoredContents<App, Env>, uuid: string): Effect.Effect<App, Refused> => {
      const found = applications.find((one) => one.uuid === uuid)
      return found === undefined ? Effect.fail(Refused.missing("Application")) : Effect.succeed(found)
    }

    /** Changes the contents atomically; a refused change has no effect. */
    const transact = <A>(
      change: (now: Contents) => Effect.Effect<readonly [A, Contents], Refused>
    ): Effect.Effect<A, Refused> => SynchronizedRef.modifyEffect(contents, change)

    /** Changes the variables of an existing application; `id` is the next free id. */
    const transactEnvs = <A>(
      uuid: string,
      change: (envs: ReadonlyArray<Env>, id: number) => Effect.Effect<readonly [A, ReadonlyArray<Env>], Refused>
    ): Effect.Effect<A, Refused> =>
      transact((now) =>
        Effect.gen(function*() {
          yield* find(now, uuid)
          const [result, envs] = yield* change(now.envs.get(uuid) ?? [], now.counter + 1)
          const counter = Math.max(now.counter, ...envs.map(({ id }) => id))
          return [result, { ...now, counter, envs: new Map([...now.envs, [uuid, envs]]) }] as const
        })
      )

    return {
      contents: SynchronizedRef.get(contents),
      find,
      transact,
      transactEnvs,
      applications: Effect.map(contents, ({ applications }) => applications),
      application: (uuid: string) => Effect.flatMap(contents, (now) => find(now, uuid)),
      envs: (uuid: string) => transactEnvs(uuid, (envs) => Effect.succeed([envs, envs] as const)),
      remove: (uuid: string) =>
        transact((now) =>
          Effect.map(find(now, uuid), (application) => {
            const envs = new Map(now.envs)
            envs.delete(uuid)
            const applications = now.applications.filter((one) => one !== application)
            return [undefined, { ...now, envs, applications }] as const
          })
        )
    }
  })
