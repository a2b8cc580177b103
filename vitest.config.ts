import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'scripts/**/*.test.ts', 'bench/**/*.test.ts', 'e2e/**/*.test.ts'],
    globalSetup: ['src/testing/global-setup.ts'],
    reporters: ['default', './src/testing/summary-reporter.ts'],
    pool: 'forks',
    maxWorkers: 3, // on two cores: many tests mostly wait
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
