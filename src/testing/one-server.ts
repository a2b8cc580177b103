import { inject, TestRunner, test } from 'vitest'

export const isCluster = inject('workerUrls').length > 0

/**
 * A test that can hold on one server only: it reads locks, which the workers of a cluster have for themselves, or makes
 * triggers, which Citus does not allow. On a cluster it is shown as skipped.
 */
export const testOnOneServer = test.skipIf(isCluster)

/** Ends the test here on a cluster, and shows it as skipped: the statements before this have run. */
export function skipOnCluster(reason: string) {
  if (isCluster) TestRunner.getCurrentTest()?.context.skip(reason)
}
