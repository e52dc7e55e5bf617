import { Effect, SynchronizedRef } from "effect"
import type { PlatformMachine } from "./platformRecords.ts"
import { Refused } from "./Refused.ts"

/** Contents of every platform. All of them share one counter of ids. */
export interface StoredContents<App, Env> {
  readonly applications: ReadonlyArray<App>
  readonly envs: ReadonlyMap<string, ReadonlyArray<Env>>
  readonly counter: number
}

const known = (what: string, all: ReadonlyArray<string>, uuid: string) =>
  all.includes(uuid) ? Effect.void : Effect.fail(Refused.missing(what))

/** Makes sure that the platform has what a new application refers to. */
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

/** Applications with their variables, in memory. */
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

    /** Changes the contents in one go; a change that is refused changes nothing. */
    const transact = <A>(
      change: (now: Contents) => Effect.Effect<readonly [A, Contents], Refused>
    ): Effect.Effect<A, Refused> => SynchronizedRef.modifyEffect(contents, change)

    /** Changes the variables of an application that exists. `id` is the next one that is free. */
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
