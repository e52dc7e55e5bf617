import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/faults/**/*.test.ts"],
    // One at a time: they break, fill and kill things, and measure what is left.
    fileParallelism: false,
    // Of the tests of one file that run at once, most wait for somebody who does not answer.
    maxConcurrency: 8,
    testTimeout: 120_000,
    hookTimeout: 60_000
  }
})
