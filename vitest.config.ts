import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import LongestFirst from './src/testing/longest-first.ts'

const compiled = fileURLToPath(new URL('node_modules/.cache/tidings-tests', import.meta.url))

export default defineConfig({
  test: {
    include: [
      'src/**/*.test.ts',
      'scripts/**/*.test.ts',
      'bench/**/*.test.ts',
      'proof/**/*.test.ts',
      'e2e/**/*.test.ts',
      'widget/**/*.test.ts',
      'web/**/*.test.ts',
    ],
    globalSetup: ['src/testing/global-setup.ts', 'e2e/global-setup.ts'],
    reporters: ['default', './src/testing/summary-reporter.ts'],
    // For processes that tests start: with compiled sources a start takes 0.3 s of the processor, without 0.7 s.
    env: { NODE_COMPILE_CACHE: compiled },
    pool: 'forks',
    maxWorkers: 6, // on two cores: many tests mostly wait, and four workers left a quarter of the processor idle
    sequence: { sequencer: LongestFirst },
    isolate: false, // files share a process and its modules: starting and loading them anew took a tenth of all time
    // Generous: a limit only decides how long a failing test takes, and a busy machine may be twenty times slower.
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
})
