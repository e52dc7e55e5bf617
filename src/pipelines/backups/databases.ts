import { Array, Effect } from "effect"
import type { BackupConfig, BackupKind } from "../../schema/backups.ts"
import type { Finding } from "../../schema/overview.ts"
import { normalizeImageName } from "../../services/ssh/Ssh.ts"
import { readComposeFile } from "../projects/compose.ts"
import { listVariants, readContainerConfig } from "../projects/files.ts"
import { findInProjects, nameFew } from "../projects/projects.ts"

// Redis is mostly a cache, which needs no backup.
const images: Readonly<Record<string, BackupKind>> = {
  postgres: "postgres",
  postgresql: "postgres",
  postgis: "postgres",
  pgvector: "postgres",
  timescaledb: "postgres",
  mysql: "mysql",
  "mysql-server": "mysql",
  percona: "mysql",
  mariadb: "mariadb",
  mongo: "mongo",
  mongodb: "mongo"
}

/** Kind of the database that an image has by its name; undefined for another one. */
const findDatabaseKind = (image: string): BackupKind | undefined => {
  const name = normalizeImageName(image).split("/").at(-1)?.split(/[:@]/)[0] ?? ""
  return Object.hasOwn(images, name) ? images[name] : undefined
}

/** Services of a compose file whose image is a database, and that no item of `backups` keeps. */
export const listUnkeptDatabases = (
  services: ReadonlyArray<{ readonly name: string; readonly image?: string; readonly runs: boolean }>,
  backups: BackupConfig | undefined
) => {
  const kept = new Set(Object.values(backups?.items ?? {}).flatMap(({ service, stop }) => [service, ...stop ?? []]))
  return services.flatMap(({ image, name, runs }) => {
    const kind = image === undefined || !runs || kept.has(name) ? undefined : findDatabaseKind(image)
    return kind === undefined ? [] : [{ service: name, kind }]
  })
}

/** Databases of a project that no backup keeps, in any of its environments; none of a project that cannot be read. */
const listUnkeptOf = (directory: string) =>
  Effect.gen(function*() {
    const config = yield* readContainerConfig(directory)
    const found = yield* Effect.forEach(listVariants(config), ({ config }) =>
      Effect.map(
        readComposeFile(directory, config),
        ({ services }) => listUnkeptDatabases(services, config.backups ?? undefined)
      ))
    return Array.dedupe(found.flat().map(({ kind, service }) => `${service} (${kind})`))
  }).pipe(Effect.orElseSucceed((): ReadonlyArray<string> => []))

/** Names the projects with a database and no backup of it; no finding without one. It is no failure, as the plan says it too. */
export const checkUnkeptDatabases = Effect.gen(function*() {
  const found = findInProjects((path) =>
    Effect.map(listUnkeptOf(path), (databases) => databases.length === 0 ? undefined : databases.join(", "))
  )
  // Another finding says why there is no directory of projects.
  const unkept = yield* Effect.orElseSucceed(found, () => [])
  if (unkept.length === 0) return []
  const finding: Finding = {
    name: "backups",
    ok: true,
    detail: `no backup keeps the databases of ${nameFew(unkept)}`,
    fix: "Name them in \"backups\" of container.json: docs/backups.md"
  }
  return [finding]
})
