#!/usr/bin/env node
import { version } from "../schema/version.ts"

// Answers `--version` before loading the rest: it is what programs call most often.
if (process.argv.length === 3 && process.argv[2] === "--version") process.stdout.write(`${version}\n`)
else await import("./main.ts")
