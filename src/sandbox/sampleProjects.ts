import { stringify } from "yaml"
import { renderPowerShellScript } from "../pipelines/init/deploymentFiles.ts"
import { makeImageArchive } from "./makeImageArchive.ts"

/** Directory tree: file contents by "/"-separated path. */
export type FileTree = Readonly<Record<string, string | Uint8Array>>

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`
const dockerfile = (name: string) => `FROM scratch\nCOPY ${name} /${name}\nEXPOSE 8080\nCMD ["/${name}"]\n`

const stack = (name: string) => ({
  services: {
    [name]: {
      image: `${name}:latest`,
      container_name: name,
      restart: "unless-stopped",
      env_file: [".env"],
      ports: ["${HOST_PORT}:8080"],
      healthcheck: { test: ["CMD", `/${name}`, "--check"], interval: "1s" }
    }
  }
})

/** `hello`: complete for deploys, comparisons and upserts. */
export const buildHelloProject = (serverId: string): FileTree => ({
  "Dockerfile": dockerfile("hello"),
  "compose.yml": stringify(stack("hello")),
  ".env": "HOST_PORT=2008\nGREETING=\"Hello from the sandbox\"\n",
  "container.json": json({ serverId, remotePath: "~/containers/hello", files: [] }),
  "platform.json": json({
    name: "hello",
    buildpack: "composestack",
    port: 2008,
    domain: "hello.sandbox.test",
    server: "lan",
    composeLocation: "/compose.yml"
  }),
  "build-image-tar.ps1": renderPowerShellScript({
    name: "hello",
    imageFile: "Dockerfile",
    containerPort: 8080,
    hostPort: 2008
  }),
  "hello.tar": makeImageArchive({ name: "hello:latest", layers: [{ hello: "#!/bin/sh\necho hello\n" }] })
})

/** `notes`: only the build context of its image. */
export const notesProject: FileTree = { "Dockerfile": dockerfile("notes"), "notes": "#!/bin/sh\necho notes\n" }

/** `greeter`: already deployed on the server. */
export const greeterDeployment: FileTree = {
  "compose.yml": stringify(stack("greeter")),
  ".env": "HOST_PORT=2007\n",
  "greeter.tar": makeImageArchive({ name: "greeter:latest", layers: [{ greeter: "#!/bin/sh\necho greetings\n" }] }),
  "data/visits.txt": "42\n"
}

/** Dynamic configuration of the proxy: one route, and the middleware of routes. */
export const renderProxyFile = (targetIp: string): string =>
  stringify({
    http: {
      routers: {
        greeter: {
          rule: "Host(`greeter.sandbox.test`)",
          entryPoints: ["https"],
          service: "greeter",
          tls: { certResolver: "letsencrypt" }
        }
      },
      middlewares: { "redirect-to-https": { redirectScheme: { scheme: "https" } } },
      services: { greeter: { loadBalancer: { servers: [{ url: `http://${targetIp}:2007` }] } } }
    }
  })
