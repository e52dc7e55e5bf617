import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Slow ones, with a run of their own: npm run test:faults
    exclude: ["test/faults/**"],
    testTimeout: 60_000,
    hookTimeout: 120_000
  }
})
