import { isNearlyFull, type ServerDisk } from "../../schema/overview.ts"
import { formatBytes } from "../../schema/words.ts"

const names = { containers: "stacks", docker: "Docker" } as const

/** Used and free space of the disks that deploys fill. */
export const Disks = ({ disks, server }: { readonly disks: ReadonlyArray<ServerDisk>; readonly server: string }) =>
  disks.map((disk) => (
    <span className="disk numbers" key={disk.mountedOn} title={`mounted on ${disk.mountedOn}`}>
      <progress
        className={isNearlyFull(disk) ? "full" : ""}
        max={disk.totalBytes}
        value={disk.totalBytes - disk.freeBytes}
        aria-label={`Disk of ${disk.holds.map((each) => names[each]).join(" and ")} on ${server}`}
      />
      <span className={isNearlyFull(disk) ? "warn" : ""}>{formatBytes(disk.freeBytes)} free</span>
      <span className="quiet">
        of {formatBytes(disk.totalBytes)}
        {disks.length > 1 ? ` for ${disk.holds.map((each) => names[each]).join(" and ")}` : ""}
      </span>
    </span>
  ))
