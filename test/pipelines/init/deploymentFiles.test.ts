import { describe, expect, it } from "@effect/vitest"
import { parse } from "yaml"
import { renderComposeYaml, renderPowerShellScript, toDockerName } from "../../../src/pipelines/init.ts"

const deployment = { name: "app", imageFile: "Dockerfile", containerPort: 3000, hostPort: 2007 }

describe("dockerName", () => {
  it.each([
    ["app", "app"],
    ["My App 2.0", "my-app-2-0"],
    ["Bücher-Café", "bucher-cafe"],
    ["__x__", "x"],
    ["'; Remove-Item x; '", "remove-item-x"],
    ["日本", "app"],
    ["-", "app"]
  ])("%j becomes %j", (directory, name) => {
    expect(toDockerName(directory)).toBe(name)
  })
})

describe("composeYaml", () => {
  it.each(["app", "123", "on", "null", "1e3"])("is a stack of one service called %j", (name) => {
    const text = renderComposeYaml({ ...deployment, name }, "${HOST_PORT}")
    const stack: unknown = parse(text, { version: "1.1" })
    expect(stack).toEqual({
      services: {
        [name]: {
          image: `${name}:latest`,
          container_name: name,
          restart: "unless-stopped",
          env_file: [".env"],
          ports: ["${HOST_PORT}:3000"],
          logging: { driver: "json-file", options: { "max-size": "10m", "max-file": "3" } }
        }
      }
    })
    expect(parse(text, { version: "1.2" })).toEqual(stack)
  })
})

describe("buildScript", () => {
  it("builds and saves under the project's name", () => {
    const script = renderPowerShellScript({ ...deployment, imageFile: "Containerfile" })
    expect(script).toContain("docker build @platform --tag $image --file 'Containerfile' .")
    expect(script).toContain("$image = 'app:latest'")
    expect(script).toContain("$archive = 'app.tar'")
  })
})
