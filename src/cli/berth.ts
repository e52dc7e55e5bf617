#!/usr/bin/env node
import { version } from "../schema/version.ts"

// Programs ask for the version most often: answers before loading the rest.
if (process.argv.length === 3 && process.argv[2] === "--version") process.stdout.write(`${version}\n`)
else await import("./main.ts")
