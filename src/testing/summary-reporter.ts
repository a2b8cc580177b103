import type { Reporter, TestModule } from 'vitest/node'

/** Ends every run with a line without colours, `N passed, N failed`, for people and scripts. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]) {
    const count = { passed: 0, failed: errors.length, skipped: 0 }
    for (const module of modules) {
      if (module.state() === 'failed' && module.errors().length > 0) count.failed += 1
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state !== 'pending') count[state] += 1
      }
    }
    // Written after vitest's own summary, so that it is the last line.
    process.once('exit', () => {
      const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : ''
      process.stdout.write(`${count.passed} passed, ${count.failed} failed${skipped}\n`)
    })
  }
}
