import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/faults/**/*.test.ts"],
    // One at a time: they break, fill and kill things, and measure what is left.
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 60_000
  }
})
