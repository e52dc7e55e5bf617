import { describe, expect, it } from "vitest"
import {
  describeApartContainers,
  describeForeignContainers,
  formatDefaultNames,
  projectNameAt
} from "../../../src/pipelines/projects/stackNames.ts"

describe("names of a stack", () => {
  it("are those that either generation of compose makes of its directory", () => {
    expect(formatDefaultNames(projectNameAt("~/containers/My Shop.2/"), "web")).toEqual({
      v1: "myshop2_web:latest",
      v2: "myshop2-web:latest"
    })
    expect(formatDefaultNames("_a-B_", "web").v2).toBe("a-b_-web:latest")
  })
})

describe("a name that another stack has", () => {
  const foreign = [
    { directory: "/home/u/live/shop", container: "shop_web_1", project: "shop" },
    { directory: "/home/u/live/shop", container: "shop_db_1", project: "shop" },
    { directory: "/srv/shop", container: "shop-old-1", project: "shop" }
  ]
  const at = (remotePath: string) => describeForeignContainers(foreign, { remotePath, server: "live" })

  it("is told with the directories, their containers and the line that gives this stack one of its own", () => {
    expect(at("~/staging/Shop/")).toBe(
      "another stack on \"live\" has the name of this one, \"shop\", so that Compose would take its containers for this " +
        "one's: shop_web_1, shop_db_1 in /home/u/live/shop; shop-old-1 in /srv/shop. Give the newer of them a name of its own, such as " +
        "\"projectName\": \"staging-shop\" in container.json for this one, or take the other one down there. Volumes go by " +
        "the name, too: under another one, they are new and empty"
    )
    expect(describeForeignContainers([], { remotePath: "~/a", server: "live" })).toBeUndefined()
  })

  it("is replaced by one that Compose takes, wherever the stack lies", () => {
    const suggested = (remotePath: string) => /"projectName": "([^"]*)"/.exec(at(remotePath) ?? "")?.[1]
    expect(["~/containers/shop", "~/shop", "/shop", "/srv/Ä/ß", "~", "/"].map(suggested)).toEqual([
      "shop-2",
      "shop-2",
      "shop-2",
      "stack-2",
      "stack-2",
      "stack-2"
    ])
  })

  it("is told in few words, however many containers have it", () => {
    const many = Array.from(
      { length: 40 },
      (_, at) => ({ directory: `/srv/${at % 8}`, container: `web_${at}`, project: "shop" })
    )
    const told = describeForeignContainers([...many, ...many.map((one) => ({ ...one, directory: "/srv/0" }))], {
      remotePath: "~/shop",
      server: "live"
    })
    expect(told).toContain(" and 40 more in /srv/0; ")
    expect(told).toContain(", and in 3 directories more. Give")
  })
})

describe("containers of another name in the directory", () => {
  const named = (...projects: ReadonlyArray<string>) =>
    describeApartContainers(
      projects.map((project, at) => ({ directory: "/srv/shop", container: `web-${at}`, project }))
    )

  it("are told once for each name, with what removes them and what deploys to them", () => {
    expect(named("old", "older", "old")).toEqual(["old: web-0, web-2", "older: web-1"].map((told) => {
      const [name = "", containers = ""] = told.split(": ")
      return `the directory has containers of another stack, "${name}", that stay as they are: ${containers}. ` +
        `"docker compose -p ${name} down" there removes them, and "projectName": "${name}" in container.json deploys to ` +
        "that stack"
    }))
    expect(named()).toEqual([])
  })

  it.each(["$(reboot)", "a b", "", "-rf"])("are no command to type under the name %j", (name) => {
    expect(named(name)).toEqual([
      `the directory has containers of another stack, "${name}", that stay as they are: web-0`
    ])
  })
})
