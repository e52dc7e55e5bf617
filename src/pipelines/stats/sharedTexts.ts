import type { StatsPoint } from "../../schema/StatsHistory.ts"

const most = 4_000

/**
 * Makes points share their texts: a text that was cut out of an answer keeps the whole answer in memory, and an hour of
 * points names the same containers again and again.
 */
export const makeSharedTexts = () => {
  const texts = new Map<string, string>()
  const share = (text: string): string => {
    const known = texts.get(text)
    if (known !== undefined) return known
    // Containers come and go: names of the past are forgotten.
    if (texts.size >= most) texts.clear()
    const own = Buffer.from(text).toString()
    texts.set(own, own)
    return own
  }
  return (point: StatsPoint): StatsPoint => ({
    ...point,
    disks: point.disks.map((disk) => ({ ...disk, mountedOn: share(disk.mountedOn) })),
    containers: point.containers.map((container) => ({
      ...container,
      name: share(container.name),
      service: share(container.service)
    })),
    ...point.error === undefined ? {} : { error: share(point.error) }
  })
}
