import { describe, expect, it } from "@effect/vitest"
import { Option } from "effect"
import {
  composedContainersCommand,
  parseComposedContainers,
  parseConfigHashes,
  parseDirectories,
  parseStackFile,
  parseStackTree
} from "../../src/remote/adoption.ts"

const line = (labels: Readonly<Record<string, string>> | null, more: Readonly<Record<string, unknown>> = {}) =>
  `container\t${
    JSON.stringify([
      more["id"] ?? "c1",
      "sha256:1",
      more["running"] ?? true,
      "2026-01-02T03:04:05.678Z",
      "shop:latest",
      labels
    ])
  }`
const labelsOf = (project: string, directory: string, more: Readonly<Record<string, string>> = {}) => ({
  "com.docker.compose.project": project,
  "com.docker.compose.project.working_dir": directory,
  "com.docker.compose.service": "web",
  ...Object.fromEntries(Object.entries(more).map(([key, value]) => [`com.docker.compose.${key}`, value]))
})

describe("composed containers", () => {
  it("are those that compose notes a directory on, also where they do not run", () => {
    const { containers, homes } = parseComposedContainers(
      [
        "home\t/home/link",
        "home\t/data/home",
        "home\t/data/home",
        line(
          labelsOf("shop", "/srv/my shop", {
            "project.config_files": "/srv/my shop/a.yml,b.yml",
            "project.environment_file": "/srv/my shop/.env.prod",
            "config-hash": "abc"
          }),
          { running: false }
        ),
        line(labelsOf("shop", "/srv/run", { oneoff: "True" })),
        line(labelsOf("", "/srv/nameless")),
        line(labelsOf("relative", "srv/relative")),
        line({ other: "label" }),
        line(null),
        "container\tnot json",
        "container\t{}",
        ""
      ].join("\n")
    )
    expect(homes).toEqual(["/home/link", "/data/home"])
    expect(containers).toEqual([{
      id: "c1",
      image: "sha256:1",
      isRunning: false,
      createdAt: 1_767_323_045,
      imageName: "shop:latest",
      project: "shop",
      service: "web",
      directory: "/srv/my shop",
      configFiles: ["/srv/my shop/a.yml", "b.yml"],
      variableFiles: ["/srv/my shop/.env.prod"],
      configHash: "abc"
    }])
  })

  it("keep hostile labels as data", () => {
    const hostile = "/srv/$(touch /tmp/x)\n'\"; rm -rf ~\tcontainer"
    const { containers } = parseComposedContainers(line(labelsOf("__proto__", hostile)))
    expect(containers).toMatchObject([{ project: "__proto__", directory: hostile }])
    expect(composedContainersCommand(true)).toMatchObject({ args: [], sudo: true })
  })

  it("are of unknown age where the server says no time", () => {
    const [container] = parseComposedContainers(line(labelsOf("a", "/a")).replace("2026-01-02T03:04:05.678Z", "never"))
      .containers
    expect(container?.createdAt).toBe(0)
  })
})

describe("answers about files", () => {
  it("tell directories by the number of their path, and never one with a line break", () => {
    const paths = ["/srv/a", "/srv/b\nc", "~/d"]
    const output = "directory\t1\tyes\t/real/a\ndirectory\t2\tyes\t/srv\ndirectory\t3\tno\t/home/x/d\te\n"
    expect([...parseDirectories(`${output}directory\t9\tyes\t/x`, paths)]).toEqual([
      ["/srv/a", { real: "/real/a", isWritable: true }],
      ["~/d", { real: "/home/x/d\te", isWritable: false }]
    ])
  })

  it("tell a file, and nothing of what is missing", () => {
    expect(parseStackFile("found\t1\tfile\tno\t100600\t12\t1700000000\n")).toEqual(Option.some({
      kind: "file",
      isReadable: false,
      mode: 0o600,
      size: 12,
      modifiedAt: 1_700_000_000
    }))
    expect(parseStackFile("")).toEqual(Option.none())
    expect(parseStackFile("found\t1\tsocket\tyes\t600\t0\t0")).toEqual(Option.none())
  })

  it("tell the files of a directory with their permissions", () => {
    expect(parseStackTree("entry\t755\t3\t./conf/run me.sh\nentry\t644\t0\t./conf/a\tb\n")).toEqual({
      files: new Map([["conf/run me.sh", { mode: 0o755, size: 3 }], ["conf/a\tb", { mode: 0o644, size: 0 }]]),
      isReadable: true
    })
    expect(parseStackTree("unread\n").isReadable).toBe(false)
  })

  it("tell the hash of each service", () => {
    const hash = "a".repeat(64)
    expect([...parseConfigHashes(`hash\tweb ${hash}\nhash\tnone short\nother`)]).toEqual([["web", hash]])
  })
})
