// Lets the suite, which is made for Node 24, start on Node 20: of what is new there it only uses `fs.globSync`, and that
// not for judging a server.
import { register } from "node:module"

const standIn = `data:text/javascript,${
  encodeURIComponent("export * from 'node:fs'; export { default } from 'node:fs'; export const globSync = () => []")
}`
const hooks = `export const resolve = (name, context, next) =>
  name === "fs" && context.parentURL.includes("@modelcontextprotocol/conformance/")
    ? { url: ${JSON.stringify(standIn)}, shortCircuit: true }
    : next(name, context)`

if (!("globSync" in (await import("node:fs")))) register(`data:text/javascript,${encodeURIComponent(hooks)}`)
