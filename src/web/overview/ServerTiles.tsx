import { Link } from "wouter"
import { isNearlyFull } from "../../schema/NeedsCare.ts"
import type { ObservedServer } from "../../schema/Overview.ts"
import { formatBytes } from "../../schema/words/formatBytes.ts"

const mostShown = 12

const Meter = ({ full, label, max, value, words }: {
  readonly label: string
  readonly value: number
  readonly max: number
  readonly words: string
  readonly full: boolean
}) => (
  <div className="tile-meter">
    <span className="quiet">{label.split(" of ")[0]}</span>
    <progress className={full ? "full" : ""} max={max} value={Math.min(value, max)} aria-label={label} />
    <span className={`numbers ${full ? "warn" : ""}`}>{words}</span>
  </div>
)

/** Share above which a meter is drawn as full. */
const nearlyAll = 0.9

const Tile = ({ server: { answers, disks, error, id, latencyMs, load, memory, name } }: {
  readonly server: ObservedServer
}) => {
  const isWell = answers && error === undefined
  const used = memory === undefined ? 0 : memory.totalBytes - memory.freeBytes
  return (
    <li className="tile">
      <div className="tile-head">
        <Link className="strong row-link" href={`/servers/${encodeURIComponent(id)}`}>{name}</Link>
        <span className={`state ${isWell ? "good" : "bad"}`} title={error}>
          <span className={`dot ${isWell ? "good" : "bad"}`} />
          <span>
            {isWell
              ? `answers in ${Math.round(latencyMs ?? 0)} ms`
              : answers
              ? "Docker cannot be used"
              : "does not answer"}
          </span>
        </span>
      </div>
      {load === undefined ? null : (
        <Meter
          label={`CPU of ${name}`}
          value={load.minute}
          max={load.processors}
          full={load.minute > load.processors * nearlyAll}
          words={`load ${load.minute.toFixed(1)} of ${load.processors}`}
        />
      )}
      {memory === undefined ? null : (
        <Meter
          label={`Memory of ${name}`}
          value={used}
          max={memory.totalBytes}
          full={used > memory.totalBytes * nearlyAll}
          words={`${formatBytes(used)} of ${formatBytes(memory.totalBytes)}`}
        />
      )}
      {disks.map((disk) => (
        <Meter
          key={disk.mountedOn}
          label={`Disk of ${name}${disks.length > 1 ? ` at ${disk.mountedOn}` : ""}`}
          value={disk.totalBytes - disk.freeBytes}
          max={disk.totalBytes}
          full={isNearlyFull(disk)}
          words={`${formatBytes(disk.freeBytes)} free of ${formatBytes(disk.totalBytes)}`}
        />
      ))}
      {isWell ? null : <p className="bad tile-error">{error}</p>}
    </li>
  )
}

/** Tiles of the servers, unusable ones first. */
export const ServerTiles = ({ servers }: { readonly servers: ReadonlyArray<ObservedServer> }) => {
  if (servers.length === 0) return null
  const isBad = ({ answers, error }: ObservedServer) => !answers || error !== undefined
  const sorted = [...servers.filter(isBad), ...servers.filter((server) => !isBad(server))]
  return (
    <section aria-label="Servers">
      <ul className="tiles">{sorted.slice(0, mostShown).map((server) => <Tile key={server.id} server={server} />)}</ul>
      {servers.length > mostShown
        ? (
          <p className="quiet tiles-more">
            <Link className="link" href="/servers">All {servers.length} servers</Link>
          </p>
        )
        : null}
    </section>
  )
}
