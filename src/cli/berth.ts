#!/usr/bin/env node
import { version } from "../schema/version.ts"

// What is asked most by programs is answered before anything else is read.
if (process.argv.length === 3 && process.argv[2] === "--version") process.stdout.write(`${version}\n`)
else await import("./main.ts")
