#!/usr/bin/env node
import { version } from "../schema/session.ts"

// Answers `--version` before loading the rest: it is what programs call most often.
if (process.argv.length === 3 && process.argv[2] === "--version") process.stdout.write(`${version}\n`)
else (await import("./program.ts")).runProcess(process.argv.slice(2))
