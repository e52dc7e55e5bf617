import type { ServerDisk } from "../../schema/Overview.ts"
import { bytes } from "../ui/words.ts"

const names = { containers: "stacks", docker: "Docker" } as const

/** When a disk is too full to be passed over: a deploy brings images of hundreds of megabytes. */
const isFull = ({ freeBytes, totalBytes }: ServerDisk) => freeBytes < 2_000_000_000 || freeBytes < totalBytes / 10

/** The disks that deploys fill: how much of each is taken, and what is free. */
export const Disks = ({ disks, server }: { readonly disks: ReadonlyArray<ServerDisk>; readonly server: string }) =>
  disks.map((disk) => (
    <span className="disk numbers" key={disk.mountedOn} title={`mounted on ${disk.mountedOn}`}>
      <progress
        className={isFull(disk) ? "full" : ""}
        max={disk.totalBytes}
        value={disk.totalBytes - disk.freeBytes}
        aria-label={`Disk of ${disk.holds.map((each) => names[each]).join(" and ")} on ${server}`}
      />
      <span className={isFull(disk) ? "warn" : ""}>{bytes(disk.freeBytes)} free</span>
      <span className="quiet">
        of {bytes(disk.totalBytes)}
        {disks.length > 1 ? ` for ${disk.holds.map((each) => names[each]).join(" and ")}` : ""}
      </span>
    </span>
  ))
