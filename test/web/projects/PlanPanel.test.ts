import { QueryClient, QueryClientProvider, useQuery } from "@tanstack/react-query"
import { createElement } from "react"
import { renderToStaticMarkup } from "react-dom/server"
import { expect, it, vi } from "vitest"
import type { Comparison } from "../../../src/schema/compare.ts"
import type { ContainerPlan } from "../../../src/schema/deploys.ts"

const plan: ContainerPlan = {
  planHash: "hash",
  projectPath: "/projects/hello",
  serverId: "1",
  remotePath: "~/containers/hello",
  files: [{ name: "compose.yml", change: "same", bytes: 100 }],
  images: [],
  services: [],
  programs: [
    { kind: "script", name: "build-image-tar.sh", detail: null, state: "changed" },
    { kind: "hookFile", name: "check.sh", detail: null, state: "new" },
    { kind: "secret", name: "WORD", detail: "op read op://x", state: "new" },
    { kind: "link", name: "conf", detail: "/etc/conf", state: "new" }
  ],
  references: [{ path: "uploads", at: "compose.yml:7", decided: "data" }],
  backups: [{ item: "database", source: "postgres in db", bytesLast: 2048, stops: [], seconds: 3 }],
  bytesTotal: 100,
  bytesToSend: 0,
  obstacles: ["check.sh is new: have it trusted on the service's machine: berth trust PROJECT"],
  warnings: ["it cannot be built, as build-image-tar.sh has changed since it was trusted"]
}

it("the page says what is not trusted, and lists what a deploy runs here and which links it follows", async () => {
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined }))
  const { PlanPanel } = await import("../../../src/web/projects/plan/PlanPanel.tsx")
  const Shown = () =>
    createElement(PlanPanel, {
      plan: useQuery<ContainerPlan>({ queryKey: ["plan"], initialData: plan }),
      comparison: useQuery<Comparison>({ queryKey: ["comparison"], enabled: false }),
      again: null
    })
  const page = renderToStaticMarkup(
    createElement(QueryClientProvider, { client: new QueryClient() }, createElement(Shown))
  ).replaceAll("&#x27;", "'")
  const alerts = [...page.matchAll(/role="alert"[^]*?<\/div>/g)].map(([alert]) => alert).join("")
  expect(alerts).toContain("check.sh is new: have it trusted on the service's machine: berth trust PROJECT")
  expect(page).toContain("it cannot be built, as build-image-tar.sh has changed since it was trusted")
  expect(page).toContain("stays on the server: compose.yml:7")
  expect(page).toContain("database, postgres in db: 2.0 kB and 3 s the last time")
  for (const program of ["secret WORD: op read op://x", "link conf leads to /etc/conf", "check.sh"]) {
    expect(page).toContain(program)
  }
})
