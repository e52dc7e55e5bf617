import { describe, expect, it } from "@effect/vitest"
import { parseSample } from "../../../src/remote/sample.ts"

const id = "a".repeat(64)

describe("parseSample", () => {
  it("reads load, memory, disks and what each container uses", () => {
    const output = `load\t0.42\t4
memory\t8000\t3000
disk\tcontainers\t100\t40\t/
disk\tdocker\t100\t40\t/
container|${id}|web|other/alias,hello-web-1
usage|${id}|150.25%|1.5MiB / 2GiB|1.2kB / 3MB|4.1MB / 0B
`
    expect(parseSample(output)).toEqual({
      load: { minute: 0.42, processors: 4 },
      memory: { totalBytes: 8000 * 1024, freeBytes: 3000 * 1024 },
      disks: [{ holds: ["containers", "docker"], mountedOn: "/", totalBytes: 102_400, freeBytes: 40_960 }],
      containers: [{
        name: "hello-web-1",
        service: "web",
        cpuPercent: 150.25,
        memoryBytes: 1.5 * 1024 * 1024,
        networkBytes: 3_001_200,
        blockBytes: 4_100_000
      }]
    })
  })

  it("leaves out a container without figures, and takes a figure that it does not know for 0", () => {
    const other = "b".repeat(64)
    const output = `container|${id}||lone|some
container|${other}|web|gone
usage|${id}|--|-- / --|--|--
usage|${"c".repeat(64)}|1%|1B / 1B|1B / 1B|1B / 1B
`
    expect(parseSample(output)).toEqual({
      disks: [],
      containers: [{ name: "lone|some", service: "", cpuPercent: 0, memoryBytes: 0, networkBytes: 0, blockBytes: 0 }]
    })
  })

  it("keeps no more than 500 containers and 255 characters of a name", () => {
    const ids = Array.from({ length: 600 }, (_, index) => `id${index}`)
    const output = ids.map((one) =>
      `container|${one}|web|${"n".repeat(300)}\nusage|${one}|1%|1B / 1B|0B / 0B|0B / 0B\n`
    ).join("")
    const { containers } = parseSample(output)
    expect(containers).toHaveLength(500)
    expect(containers[0]?.name).toHaveLength(255)
  })
})
