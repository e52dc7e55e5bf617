import { describe, expect, it } from "@effect/vitest"
import { parseRemovalPlan, parseStack } from "../../../src/remote/stack.ts"

describe("the plan of a removal", () => {
  it("has every list, with names that hold tabs, line breaks and escapes in one piece", () => {
    const plan = parseRemovalPlan([
      "release\t3\t2026-01-02T03:04:05Z",
      "backup\t12\t2026-01-01T00:00:00Z\t2048\tdatabase,files",
      "goes\tcontainer\tshop-web-1",
      "goes\tfile\tconf/a\tb'c",
      "goes\timage\tshop:latest",
      // Two releases may have used the same image name.
      "goes\timage\tshop:latest",
      "goes\tvolume\tshop_db",
      "stays\tfile\tforeign\t\tone\u0001goes\tfile\tcompose.yml",
      "stays\tdirectory\tdata\t\tdata",
      "stays\tlink\tforeign\t\t\u001b[31mred",
      "stays\timage\tnamed\tother:1\tshop:1",
      "more\tstays\t12",
      ""
    ].join("\n"))
    expect(plan).toEqual({
      releases: [{ id: "3", at: "2026-01-02T03:04:05Z" }],
      backups: [{ id: "12", takenAt: "2026-01-01T00:00:00Z", bytes: 2048, items: ["database", "files"] }],
      containers: ["shop-web-1"],
      files: ["conf/a\tb'c"],
      images: ["shop:latest"],
      volumes: ["shop_db"],
      stays: [
        { kind: "file", reason: "foreign", by: "", name: "one\ngoes\tfile\tcompose.yml" },
        { kind: "directory", reason: "data", by: "", name: "data" },
        { kind: "link", reason: "foreign", by: "", name: "\u001b[31mred" },
        { kind: "image", reason: "named", by: "other:1", name: "shop:1" }
      ],
      omitted: [{ list: "stays", number: 12 }]
    })
  })

  it("leaves out lines that are cut off or of no known kind", () => {
    expect(parseRemovalPlan("stays\tfile\tforeign\nstays\tsocket\tforeign\t\tx\ngoes\nnoise").stays).toEqual([])
    expect(parseStack("stays\tfile\tforeign\t\town.txt\nremoved\tcompose.yml").stays).toEqual([
      { kind: "file", reason: "foreign", by: "", name: "own.txt" }
    ])
  })
})
